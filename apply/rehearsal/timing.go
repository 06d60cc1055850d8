package rehearsal

import (
	"slices"
	"time"

	"github.com/talosgen/talosgen/internal/manifest"
)

// leastPods is of how many pods there must be a time to believe what they tell.
const leastPods = 3

// PodStart is how long pods of the cluster took from their node until they were ready,
// half of them less. It is not known of few pods, nor of such that restarted since.
func (o *Observed) PodStart() (took time.Duration, known bool) {
	var all []time.Duration
	for _, object := range o.Objects {
		if d, ok := started(object); ok {
			all = append(all, d)
		}
	}
	if len(all) < leastPods {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}

// started is how long a pod took.
func started(pod manifest.Object) (time.Duration, bool) {
	status, _ := pod["status"].(map[string]any)
	if pod.Kind() != "Pod" || status == nil {
		return 0, false
	}
	containers, _ := status["containerStatuses"].([]any)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		if restarts, _ := container["restartCount"].(int64); restarts > 0 {
			return 0, false
		}
	}
	began, err := time.Parse(time.RFC3339, text(status["startTime"]))
	if err != nil {
		return 0, false
	}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] == "Ready" && condition["status"] == "True" {
			ready, err := time.Parse(time.RFC3339, text(condition["lastTransitionTime"]))
			return ready.Sub(began), err == nil && !ready.Before(began)
		}
	}
	return 0, false
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
