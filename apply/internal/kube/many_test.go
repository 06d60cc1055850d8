package kube

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// many is a tree of n objects, a third of them workloads.
func many(name string, n int) tree {
	var text strings.Builder
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&text, "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%d, namespace: %s}, spec: {replicas: 0, selector: {matchLabels: {app: d%[1]d}}, template: {metadata: {labels: {app: d%[1]d}}, spec: {containers: [{name: c, image: 'example.org/c:1', ports: [{containerPort: 80}]}]}}}}\n", i, name)
		case 1:
			fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: %s}, data: {text: '%s'}}\n", i, name, strings.Repeat("x", 4000))
		default:
			fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Secret, metadata: {name: s%d, namespace: %s}, stringData: {text: '%s'}}\n", i, name, strings.Repeat("x", 1000))
		}
	}
	return tree{
		"bootstrap/many/namespace.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + "}}",
		"bootstrap/many/manifests.yaml": text.String(),
	}
}

// A second apply of 300 objects costs a list for each kind, and one question for
// each workload, whose defaults only the API knows.
func TestNothingToDo(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	const objects = 300
	files := many("nothing-to-do", objects)
	r.apply(files, plan.Consent{})
	before := r.client.sent()
	if p := r.plan(files.read(t), plan.Consent{}); !p.InSync() || len(p.Steps) != objects+1 {
		t.Fatalf("the plan is %s", p)
	}
	// Discovery twice, the inventory, namespaces, the namespace; three kinds in
	// pages; and the workloads.
	const lists, workloads = 12, objects/3 + 1
	if made := r.client.sent() - before; made > lists+workloads {
		t.Errorf("%d requests, want at most %d", made, lists+workloads)
	}
}

// BenchmarkNothingToDo says how long a second apply of 300 objects takes.
func BenchmarkNothingToDo(b *testing.B) {
	c := kubeenv.Start(b)
	forget(b, c)
	r := newRun(b, c)
	desired := many("bench-nothing", 300).read(b)
	if err := r.execute(r.plan(desired, plan.Consent{AllowDestroy: true})); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p := r.plan(desired, plan.Consent{}); !p.InSync() {
			b.Fatal(p)
		}
	}
}

// BenchmarkManyObjects applies 2000 objects, and says how much memory is in use
// at most.
func BenchmarkManyObjects(b *testing.B) {
	c := kubeenv.Start(b)
	forget(b, c)
	r := newRun(b, c)
	desired := many("bench-many", 2000).read(b)
	var most uint64
	for b.Loop() {
		p := r.plan(desired, plan.Consent{AllowDestroy: true})
		if err := r.execute(p); err != nil {
			b.Fatal(err)
		}
		again := r.plan(desired, plan.Consent{})
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys)
		if !again.InSync() {
			b.Fatal(again)
		}
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB")
}
