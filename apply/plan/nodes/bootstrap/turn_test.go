package bootstrap_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
)

// TestTurn: what a run does that no lock keeps apart from others, once it is sure
// that no control plane has etcd. It is called me, and looks at 10000 by its clock.
func TestTurn(t *testing.T) {
	const among = "cp-1,cp-2"
	var (
		none  = bootstrap.Note{}
		mine  = bootstrap.Note{Node: "cp-1", Boot: "boot of cp-1", At: 9900, Run: "me", Among: among}
		of    = func(change func(*bootstrap.Note)) bootstrap.Note { n := mine; change(&n); return n }
		other = of(func(n *bootstrap.Note) { n.Run, n.At = "other", 9899 })
		later = of(func(n *bootstrap.Note) { n.Run, n.At = "other", 9901 })
		ahead = of(func(n *bootstrap.Note) { n.Run, n.At = "other", 99999 })
		equal = of(func(n *bootstrap.Note) { n.Run = "zoe" })
		wider = of(func(n *bootstrap.Note) { n.Run, n.At, n.Among = "other", 9899, "cp-1,cp-2,cp-3" })
		calls = bootstrap.Note{Node: "cp-1", Boot: "boot of cp-1", At: 9000}
		gone  = bootstrap.Note{Node: "cp-0", Boot: "whatever", At: 9000}
		begun = bootstrap.Note{Node: "cp-1", Snapshot: "X"}
		in    = func(n bootstrap.Note, boot string) bootstrap.Note { n.Boot = boot; return n }
	)
	for _, c := range []struct {
		name   string
		own    bootstrap.Note // what was announced in time, so many seconds ago
		age    int64
		on     [2]bootstrap.Note // cp-1 and cp-2
		seen   int64             // since when
		action bootstrap.Action
		says   string
	}{
		{"nothing is noted", none, 0, [2]bootstrap.Note{}, 0, bootstrap.Announce, "cp-1"},
		{"a recovery is noted", none, 0, [2]bootstrap.Note{begun, begun}, 0, bootstrap.Announce, "cp-1"},
		{"announced just now", mine, 0, [2]bootstrap.Note{mine, mine}, 0, bootstrap.Wait, "another run may be about to bootstrap cp-1 as well"},
		{"announced, almost long enough ago", mine, bootstrap.Hold - 1, [2]bootstrap.Note{mine, mine}, 0, bootstrap.Wait, "may be about"},
		{"announced, long enough ago", mine, bootstrap.Hold, [2]bootstrap.Note{mine, mine}, 0, bootstrap.Call, "cp-1"},
		{"announced, too long ago", mine, bootstrap.Valid, [2]bootstrap.Note{mine, mine}, 0, bootstrap.Announce, "cp-1"},
		{"announced, too late to count", none, 0, [2]bootstrap.Note{mine, mine}, 0, bootstrap.Announce, "cp-1"},
		{"announced for another boot", in(mine, "old"), bootstrap.Hold, [2]bootstrap.Note{in(mine, "old"), in(mine, "old")}, 0, bootstrap.Announce, "cp-1"},
		{"announced, and it is gone", mine, bootstrap.Hold, [2]bootstrap.Note{}, 0, bootstrap.Announce, "cp-1"},
		{"another one has announced itself", none, 0, [2]bootstrap.Note{other, other}, 0, bootstrap.Wait, "another run is about to bootstrap cp-1"},
		{"another one is about to, on one", none, 0, [2]bootstrap.Note{none, other}, 0, bootstrap.Wait, "another run is about"},
		{"another one was about to", none, 0, [2]bootstrap.Note{other, other}, bootstrap.Dead - 1, bootstrap.Wait, "another run is about"},
		{"another one never came", none, 0, [2]bootstrap.Note{other, other}, bootstrap.Dead, bootstrap.Announce, "cp-1"},
		{"another one never came, whatever its clock shows", none, 0, [2]bootstrap.Note{ahead, ahead}, bootstrap.Dead, bootstrap.Announce, "cp-1"},
		{"another one has, whatever its clock shows", none, 0, [2]bootstrap.Note{ahead, ahead}, 0, bootstrap.Wait, "another run is about"},
		{"another one has for a boot that is over", none, 0, [2]bootstrap.Note{in(other, "old"), in(other, "old")}, 0, bootstrap.Announce, "cp-1"},
		{"both have, and it ranks lower", mine, bootstrap.Hold, [2]bootstrap.Note{mine, other}, 0, bootstrap.Call, "cp-1"},
		{"both have, and it ranks higher", mine, bootstrap.Hold, [2]bootstrap.Note{mine, later}, 0, bootstrap.Wait, "another run is about"},
		{"both have at once, and it ranks higher by its name", mine, bootstrap.Hold, [2]bootstrap.Note{equal, mine}, 0, bootstrap.Wait, "another run is about"},
		{"both have, and it ranks lower, but is everywhere", mine, bootstrap.Hold, [2]bootstrap.Note{other, other}, 0, bootstrap.Wait, "another run is about"},
		{"both have, and it knows other control planes", mine, bootstrap.Hold, [2]bootstrap.Note{mine, wider}, 0, bootstrap.Wait, "another run is about"},
		{"another one calls", none, 0, [2]bootstrap.Note{calls, calls}, 0, bootstrap.Wait, "etcd was told to begin on cp-1"},
		{"this one has announced itself, and another one calls", mine, bootstrap.Hold, [2]bootstrap.Note{mine, calls}, 0, bootstrap.Wait, "etcd was told to begin on cp-1"},
		{"another one has called a while ago", none, 0, [2]bootstrap.Note{calls, calls}, bootstrap.Pause - 1, bootstrap.Wait, "etcd was told"},
		{"another one has called long ago", none, 0, [2]bootstrap.Note{calls, calls}, bootstrap.Pause, bootstrap.Announce, "cp-1"},
		{"another one has called in another boot", none, 0, [2]bootstrap.Note{in(calls, "old"), in(calls, "old")}, 0, bootstrap.Announce, "cp-1"},
		{"another one has called a node that is not here", none, 0, [2]bootstrap.Note{gone, gone}, 0, bootstrap.Wait, "cp-0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := look("cp-1", "ee")
			now.Run, now.At, now.Own, now.Age = "me", 10000, c.own, c.age
			for i := range now.ControlPlanes {
				now.ControlPlanes[i].Note, now.ControlPlanes[i].Seen = c.on[i], c.seen
			}
			d := bootstrap.Decide(now, now, "")
			if d.Action != c.action || !strings.Contains(d.Node+" "+d.Reason, c.says) {
				t.Errorf("got %+v, want %s: %s", d, c.action, c.says)
			}
			if want := of(func(n *bootstrap.Note) { n.At = 10000 }); d.Action == bootstrap.Announce && d.Note != want {
				t.Errorf("it is to note %+v, want %+v", d.Note, want)
			}
		})
	}
}

// TestTurnOfMute: where nothing can be noted nobody is kept out, and nobody waits;
// what can be noted on other control planes counts.
func TestTurnOfMute(t *testing.T) {
	now := look("cp-1", "ee")
	now.Run, now.ControlPlanes[0].Mute = "me", true
	if d := bootstrap.Decide(now, now, ""); d.Action != bootstrap.Announce || d.Note.Among != "cp-2" {
		t.Errorf("one of them can: %+v", d)
	}
	now.ControlPlanes[1].Mute = true
	if d := bootstrap.Decide(now, now, ""); d.Action != bootstrap.Call {
		t.Errorf("none can: %+v", d)
	}
	now.ControlPlanes[1].Mute, now.Run = false, ""
	if d := bootstrap.Decide(now, now, ""); d.Action != bootstrap.Call {
		t.Errorf("a lock keeps others out: %+v", d)
	}
}
