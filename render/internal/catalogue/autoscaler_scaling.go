package catalogue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// autoscalerPriorities is the name of the ConfigMap that the expander "priority" of
// the autoscaler reads, whenever it chooses.
const autoscalerPriorities = "cluster-autoscaler-priority-expander"

// priorities is the ConfigMap with the priorities of all pools; nil if none has one.
// A pool that it did not name would never be used while another one could be.
func (f autoscalerFacts) priorities() object {
	given := map[string]int{}
	for _, p := range f.Cluster.Autoscaler.NodePools {
		given[p.Name] = p.Priority
	}
	groups := map[int][]string{}
	for _, p := range f.Infrastructure.AutoscalerPools {
		groups[given[p.Name]] = append(groups[given[p.Name]], p.Group)
	}
	if len(groups[0]) == len(f.Infrastructure.AutoscalerPools) {
		return nil
	}
	var text strings.Builder
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(groups))) {
		fmt.Fprintf(&text, "%d:\n", priority)
		for _, group := range groups[priority] {
			fmt.Fprintf(&text, "  - ^%s$\n", group)
		}
	}
	return newObject("v1", "ConfigMap", kubeSystem, autoscalerPriorities, fields{"data": fields{"priorities": text.String()}})
}

// expander is how the autoscaler chooses among pools that would all do.
func (f autoscalerFacts) expander() string {
	if f.priorities() == nil {
		return "--expander=least-waste"
	}
	return "--expander=priority,least-waste"
}

// scaleDownArguments say when servers are removed, where that is not as the autoscaler
// does it by itself.
func scaleDownArguments(s schemas.ScaleDown) (args []string) {
	for _, a := range []struct{ name, usual, value string }{
		{"enabled", "true", strconv.FormatBool(s.Enabled)},
		{"utilization-threshold", "0.5", strconv.FormatFloat(float64(s.UtilizationThreshold)/100, 'f', -1, 64)},
		{"unneeded-time", "10m", s.UnneededTime},
		{"delay-after-add", "10m", s.DelayAfterAdd},
	} {
		if a.value != a.usual {
			args = append(args, "--scale-down-"+a.name+"="+a.value)
		}
	}
	return args
}
