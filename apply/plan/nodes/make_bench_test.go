package nodes_test

import (
	"fmt"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
)

// BenchmarkMake plans for clusters in which nothing is to be done, and says how long that
// takes for each node.
func BenchmarkMake(b *testing.B) {
	for _, count := range []int{100, 1000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			desired, observed := nodes.Desired{}, nodes.Observed{Known: true}
			for i := range count {
				name, config := fmt.Sprint("w", i), trusting(b, "talos", "worker", "a")
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: nodes.Worker, Config: config})
				observed.Nodes = append(observed.Nodes, nodes.Node{Name: name, Role: nodes.Worker, Reach: nodes.Configured, Stage: nodes.StageRunning, Config: config})
			}
			for b.Loop() {
				if _, err := nodes.Make(desired, observed, nodes.Policy{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*count), "µs/node")
		})
	}
}
