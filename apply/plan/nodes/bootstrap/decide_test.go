package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
)

var short = map[byte]bootstrap.State{
	'?': bootstrap.Unknown, 'f': bootstrap.Foreign, 'm': bootstrap.Maintenance, 'e': bootstrap.Empty,
	'd': bootstrap.Data, 'A': bootstrap.Serving, 'B': bootstrap.Serving, '0': "",
}

// look writes an observation in short: the intent (empty, or a node, "from" a
// snapshot, and "done"), and a letter for each control plane cp-1, cp-2…; behind a bar those
// that the tree does not have.
func look(intent, controlPlanes string) bootstrap.Observation {
	var o bootstrap.Observation
	if node, done := strings.CutSuffix(intent, " done"); node != "" {
		node, snapshot, _ := strings.Cut(node, " from ")
		o.Intent = bootstrap.Intent{Node: node, Machine: "machine of " + node, Snapshot: snapshot, Done: done}
	}
	inTree := true
	for i, n := 0, 1; i < len(controlPlanes); i++ {
		if controlPlanes[i] == '|' {
			inTree = false
			continue
		}
		name := fmt.Sprintf("cp-%d", n)
		o.ControlPlanes = append(o.ControlPlanes, bootstrap.ControlPlane{
			Name: name, InTree: inTree, Machine: "machine of " + name, BootID: "boot of " + name,
			State: short[controlPlanes[i]], Cluster: string(controlPlanes[i]),
		})
		n++
	}
	return o
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name           string
		intent, planes string
		confirmed      bool   // the look before was the same
		snapshot       string // that somebody wants back
		action         bootstrap.Action
		says           string
	}{
		{"fresh, three control planes", "", "eee", true, "", bootstrap.Record, "cp-1"},
		{"fresh, a single one", "", "e", true, "", bootstrap.Record, "cp-1"},
		{"recorded, seen once", "cp-1", "eee", false, "", bootstrap.ObserveAgain, "second look"},
		{"recorded, seen twice", "cp-1", "eee", true, "", bootstrap.Call, "cp-1"},
		{"somebody recorded another node", "cp-2", "eee", true, "", bootstrap.Call, "cp-2"},
		{"none is configured", "", "mmm", true, "", bootstrap.Wait, "cp-1, cp-2, cp-3 has no configuration"},
		{"one is not configured", "cp-1", "eem", true, "", bootstrap.Wait, "cp-3 has no configuration"},
		{"one is unreachable", "cp-1", "ee?", true, "", bootstrap.Wait, "on cp-3"},
		{"the first is unreachable", "", "?ee", true, "", bootstrap.Wait, "on cp-1"},
		{"nothing is known of one", "cp-1", "e0e", true, "", bootstrap.Wait, "on cp-2"},
		{"one that the tree does not have is unreachable", "cp-1", "ee|?", true, "", bootstrap.Wait, "on cp-3"},
		{"one that the tree does not have has etcd", "cp-1 done", "ee|A", true, "", bootstrap.Finished, "cp-3"},
		{"one that the tree does not have has none", "", "ee|e", true, "", bootstrap.Record, "cp-1"},
		{"done", "cp-1 done", "AAA", true, "", bootstrap.Finished, ""},
		{"done, not written down", "cp-1", "Aee", true, "", bootstrap.MarkDone, ""},
		{"done by hand", "", "AAA", true, "", bootstrap.MarkDone, ""},
		{"done, others are down", "cp-1 done", "?A?", true, "", bootstrap.Finished, "cp-2"},
		{"half done: it starts", "cp-1", "dee", true, "", bootstrap.Wait, "has data on cp-1"},
		{"half done, the others unknown", "cp-1", "d??", true, "", bootstrap.Wait, "has data on cp-1"},
		{"data of an old cluster", "", "eed", true, "", bootstrap.Wait, "has data on cp-3"},
		{"all is lost", "cp-1 done", "eee", true, "", bootstrap.Refuse, "bootstrapped before"},
		{"all is lost, and recovered", "cp-1 done", "eee", true, "X", bootstrap.Record, "cp-1"},
		{"all is lost after a recovery, and recovered again", "cp-1 from X done", "eee", true, "X", bootstrap.Record, "cp-1"},
		{"recovery, recorded", "cp-1 from X", "eee", true, "X", bootstrap.Call, "cp-1"},
		{"recovery of what was to begin empty", "cp-1", "eee", true, "X", bootstrap.Record, "cp-1"},
		{"recovery, recorded, without the snapshot", "cp-1 from X", "eee", true, "", bootstrap.Refuse, "another run began to recover it from the snapshot X"},
		{"recovery, recorded, without the snapshot, for a node that is gone", "cp-9 from X", "eee", true, "", bootstrap.Refuse, "the snapshot X"},
		{"recovery, recorded, with another snapshot", "cp-1 from Y", "eee", true, "X", bootstrap.Refuse, "this is another one: X"},
		{"recovery does not replace what lives", "cp-1 done", "eeA", true, "X", bootstrap.Refuse, "would be ignored"},
		{"recovery does not replace what nobody recorded", "", "eeA", true, "X", bootstrap.Refuse, "would be ignored"},
		{"recovery of what was to begin empty, and did", "cp-1", "Aee", true, "X", bootstrap.Refuse, "would be ignored"},
		{"recovery, half done: it starts", "cp-1 from X", "dee", true, "X", bootstrap.Wait, "has data on cp-1"},
		{"recovery, half done: it serves", "cp-1 from X", "Aee", true, "X", bootstrap.MarkDone, "cp-1"},
		{"recovery, half done: it serves, without the snapshot", "cp-1 from X", "Aee", true, "", bootstrap.MarkDone, "cp-1"},
		{"recovery, done", "cp-1 from X done", "AAA", true, "X", bootstrap.Finished, ""},
		{"recovery does not replace what is not known", "cp-1 done", "ee?", true, "X", bootstrap.Wait, "cp-3"},
		{"the first was replaced when done", "cp-1 done", "eAA", true, "", bootstrap.Finished, ""},
		{"wrong cluster", "", "fee", true, "", bootstrap.Refuse, "another cluster"},
		{"wrong cluster beside ours", "cp-1 done", "AAf", true, "", bootstrap.Refuse, "another cluster"},
		{"two clusters", "cp-1 done", "ABA", true, "", bootstrap.Refuse, "two etcd clusters"},
		{"recorded for a node that the tree does not have", "cp-9", "eee", true, "", bootstrap.Refuse, "cp-9"},
		{"recorded for a node that the tree does not have any more", "cp-2", "e|e", true, "", bootstrap.Refuse, "cp-2"},
		{"no control plane", "", "", true, "", bootstrap.Refuse, "no control plane"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, earlier := look(c.intent, c.planes), bootstrap.Observation{}
			if c.confirmed {
				earlier = look(c.intent, c.planes)
			}
			d := bootstrap.Decide(now, earlier, c.snapshot)
			if d.Action != c.action || !strings.Contains(d.Node+" "+d.Reason, c.says) {
				t.Errorf("got %+v, want %s: %s", d, c.action, c.says)
			}
			if d.Action == bootstrap.Refuse && d.Hint == "" {
				t.Errorf("no hint: %+v", d)
			}
			if d.Action == bootstrap.Call && (d.BootID == "" || d.Snapshot != c.snapshot) {
				t.Errorf("no boot, or another snapshot: %+v", d)
			}
		})
	}
}

// The same boot is not called again for a while, whoever has called it.
func TestCalledOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		boot   string
		at     int64 // of the call; the look is at 10000
		action bootstrap.Action
	}{
		{"never", "", 0, bootstrap.Call},
		{"just now", "boot of cp-1", 9999, bootstrap.Wait},
		{"a while ago", "boot of cp-1", 10001 - bootstrap.Pause, bootstrap.Wait},
		{"long ago", "boot of cp-1", 10000 - bootstrap.Pause, bootstrap.Call},
		{"in another boot", "an earlier boot", 9999, bootstrap.Call},
		{"by somebody whose clock is ahead", "boot of cp-1", 20000, bootstrap.Call},
	} {
		now := look("cp-1", "eee")
		now.At, now.Intent.CalledBoot, now.Intent.CalledAt = 10000, c.boot, c.at
		if d := bootstrap.Decide(now, now, ""); d.Action != c.action {
			t.Errorf("%s: got %+v, want %s", c.name, d, c.action)
		}
	}
}

// Between two looks nothing may have changed, not even what looks the same.
func TestSecondLook(t *testing.T) {
	for name, change := range map[string]func(*bootstrap.Observation){
		"another boot":      func(o *bootstrap.Observation) { o.ControlPlanes[2].BootID = "later" },
		"no boot":           func(o *bootstrap.Observation) { o.ControlPlanes[2].BootID = "" },
		"another machine":   func(o *bootstrap.Observation) { o.ControlPlanes[2].Machine = "new" },
		"another state":     func(o *bootstrap.Observation) { o.ControlPlanes[2].State = bootstrap.Maintenance },
		"another intent":    func(o *bootstrap.Observation) { o.Intent.Machine = "old" },
		"one less":          func(o *bootstrap.Observation) { o.ControlPlanes = o.ControlPlanes[:2] },
		"one of other name": func(o *bootstrap.Observation) { o.ControlPlanes[2].Name = "cp-4" },
	} {
		earlier := look("cp-1", "eee")
		change(&earlier)
		if d := bootstrap.Decide(look("cp-1", "eee"), earlier, ""); d.Action != bootstrap.ObserveAgain {
			t.Errorf("%s: got %+v", name, d)
		}
	}
	replaced := look("cp-1", "eee")
	replaced.ControlPlanes[0].Machine = "new"
	if d := bootstrap.Decide(replaced, replaced, ""); d.Action != bootstrap.Record || d.Machine != "new" {
		t.Errorf("the first was replaced before it was bootstrapped: %+v", d)
	}
	twice := look("", "ee")
	twice.ControlPlanes[1].Name = "cp-1"
	if d := bootstrap.Decide(twice, twice, ""); d.Action != bootstrap.Refuse {
		t.Errorf("two machines with a name: %+v", d)
	}
}
