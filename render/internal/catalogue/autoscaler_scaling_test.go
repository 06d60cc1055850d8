package catalogue_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/catalogue/cataloguetest"
)

// scalingCluster has pools with names that begin like others, with and without a
// priority; the %s are more of the autoscaler.
const scalingCluster = `clusterName: demo
hetzner: {region: hel1}
nodes: {controlPlane: {count: 1, type: cpx22}}
autoscaler: {enabled: true, acknowledgeMetadata: true, %s}
`

// scaling is what the autoscaler of a cluster is told: the arguments that are about
// pools and their removal, and the text of its priorities.
func scaling(t *testing.T, options string) (arguments []string, priorities string) {
	t.Helper()
	f, err := cataloguetest.Facts(t, fmt.Appendf(nil, scalingCluster, options))
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.Addons(f)
	if err != nil {
		t.Fatal(err)
	}
	a := all[slices.IndexFunc(all, func(a catalogue.Addon) bool { return a.Name == "cluster-autoscaler" })]
	for _, o := range a.Objects {
		switch o.Kind() {
		case "ConfigMap":
			priorities = o.Text("data", "priorities")
		case "Deployment":
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			arguments = regexp.MustCompile(`--(expander|scale-down-)[^\s"]+`).FindAllString(string(text), -1)
		}
	}
	return arguments, priorities
}

// Each pool has one priority, read as the autoscaler reads it: by expressions that
// match the name of a group anywhere. One that has none is the last.
func TestAutoscalerPriorities(t *testing.T) {
	arguments, text := scaling(t, `nodepools: [{name: a, max: 1, type: cpx22, priority: 1}, {name: a-a, max: 1, type: cpx22, priority: 1000}, {name: a-a-a, max: 1, type: cpx22}, {name: b-demo-a, max: 1, type: cpx22, priority: 7}, {name: c, max: 1, type: cpx22, priority: 7}]`)
	if !slices.Contains(arguments, "--expander=priority,least-waste") {
		t.Errorf("arguments %v", arguments)
	}
	var priorities map[int][]string
	if err := yaml.Unmarshal([]byte(text), &priorities); err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]int{"demo-a": 1, "demo-a-a": 1000, "demo-a-a-a": 0, "demo-b-demo-a": 7, "demo-c": 7} {
		var got []int
		for priority, expressions := range priorities {
			for _, e := range expressions {
				if regexp.MustCompile(e).MatchString(group) {
					got = append(got, priority)
				}
			}
		}
		if !slices.Equal(got, []int{want}) {
			t.Errorf("%s has the priorities %v, want %d, in\n%s", group, got, want, text)
		}
	}
}

// Without an option, the autoscaler is told what it was told before there was one:
// nothing, so that its pod is not made anew.
func TestAutoscalerArguments(t *testing.T) {
	const pool = "nodepools: [{name: a, max: 1, type: cpx22}]"
	for options, want := range map[string]string{
		pool: "--expander=least-waste",
		pool + ", scaleDown: {enabled: true, utilizationThreshold: 50, unneededTime: 10m, delayAfterAdd: 10m}": "--expander=least-waste",
		pool + ", scaleDown: {enabled: false}":                          "--expander=least-waste --scale-down-enabled=false",
		pool + ", scaleDown: {utilizationThreshold: 7}":                 "--expander=least-waste --scale-down-utilization-threshold=0.07",
		pool + ", scaleDown: {utilizationThreshold: 100}":               "--expander=least-waste --scale-down-utilization-threshold=1",
		pool + ", scaleDown: {unneededTime: 1h30m, delayAfterAdd: 90s}": "--expander=least-waste --scale-down-unneeded-time=1h30m --scale-down-delay-after-add=90s",
	} {
		arguments, priorities := scaling(t, options)
		if got := strings.Join(arguments, " "); got != want || priorities != "" {
			t.Errorf("%s: %s; priorities %q", options, got, priorities)
		}
	}
}
