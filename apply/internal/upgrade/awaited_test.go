package upgrade

import (
	"slices"
	"testing"

	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
)

// What is waited for is told once, and when it is over.
func TestAwaited(t *testing.T) {
	var told []string
	a := awaited{notify: func(step, text string) { told = append(told, step+": "+text) }}
	quorum := upgradeplan.Note{Text: "etcd has no leader"}
	for _, notes := range [][]upgradeplan.Note{{{Node: "w-1", Text: "it boots"}}, {{Node: "w-1", Text: "it boots"}}, {{Node: "w-1", Text: "it is not ready"}, quorum}, {quorum}, nil, nil} {
		a.say(notes)
	}
	want := []string{"wait for w-1: it boots", "wait for w-1: it is not ready", "wait for the cluster: etcd has no leader", "wait for w-1: ", "wait for the cluster: "}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
