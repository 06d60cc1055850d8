package apply

import (
	"testing"

	"github.com/talosgen/talosgen/apply/rehearsal"
)

// TestNotedSystems: what runs have noted at a node tells which system it boots next, and
// to which one it can go back.
func TestNotedSystems(t *testing.T) {
	const before = "1.13.9 aaa 1.14.1 bbb"
	older, newer := rehearsal.System{Talos: "v1.13.9", Schematic: "aaa"}, rehearsal.System{Talos: "v1.14.1", Schematic: "bbb"}
	for _, tt := range []struct {
		name         string
		runs         rehearsal.System
		mark, before string
		other        rehearsal.System
		boots        bool
	}{
		{"nothing was noted", older, "", "", rehearsal.System{}, false},
		{"it was upgraded", newer, "", before, older, false},
		{"it went back", older, "", before + " back", newer, false},
		{"an installer has ended", older, "installed 1.14.1 bbb boot=now try=1 run=r", before, newer, true},
		{"an installer was begun", older, "installing 1.14.1 bbb boot=now try=1 run=r", before, newer, true},
		{"an installer was begun in the boot before", older, "installing 1.14.1 bbb boot=then try=1 run=r", before, newer, false},
		{"an installer has failed", older, "failed 1.14.1 bbb boot=now try=1 run=r", "", rehearsal.System{}, false},
		{"it was told to go back", newer, "returning 1.13.9 aaa boot=now try=1 run=r", before, older, true},
		{"its server is deleted", newer, "deleting 1.14.1 - boot=42 try=1 run=r", "", rehearsal.System{}, false},
		{"an image without a schematic", rehearsal.System{Talos: "v1.13.9"}, "installed 1.14.1 - boot=now try=1 run=r", "", rehearsal.System{Talos: "v1.14.1"}, true},
		{"notes that nobody understands", older, "who knows", "1.13", rehearsal.System{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := rehearsal.Node{Boot: "now", Talos: tt.runs.Talos, Schematic: tt.runs.Schematic}
			noted(&n, tt.mark, tt.before)
			if n.Other != tt.other || n.BootsOther != tt.boots {
				t.Errorf("the other system is %v, boots next: %v; want %v, %v", n.Other, n.BootsOther, tt.other, tt.boots)
			}
		})
	}
}

// TestNotedInAnotherTime: a cluster that was kept without boots is what it was.
func TestNotedInAnotherTime(t *testing.T) {
	var n rehearsal.Node
	if noted(&n, "installed 1.14.1 bbb boot= try=1 run=r", ""); n.BootsOther {
		t.Error("it boots what was installed in a boot that is not known")
	}
}
