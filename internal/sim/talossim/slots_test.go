package talossim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// slotCases are what happens to a machine with Talos v1.13.1, and what runs and is on its
// disk then. The simulator and disks that real installers write to are both held to it.
var slotCases = []struct {
	name, steps string
	want        string // none: the system that was booted has failed, and did not go back
	systemdBoot string // if it differs from what GRUB makes of it
}{
	{"installed", "install v1.14.1", "v1.13.1 of v1.13.1 v1.14.1", ""},
	{"upgraded", "install v1.14.1, boot", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"upgraded twice", "install v1.13.9, boot, install v1.14.1, boot", "v1.14.1 of v1.13.9 v1.14.1", ""},
	{"two installations in one boot", "install v1.14.0, install v1.14.1", "v1.13.1 of v1.14.0 v1.14.1", "v1.13.1 of v1.13.1 v1.14.1"},
	{"two installations, and the second fails", "install v1.14.0, install v1.14.1, break v1.14.1, boot", "v1.14.0 of v1.14.0 v1.14.1", "v1.13.1 of v1.13.1 v1.14.1"},
	{"two installations by Talos 1.13", "install v1.13.6, install v1.13.9", "v1.13.1 of v1.13.6 v1.13.9", ""},
	{"the new one fails", "install v1.14.1, break v1.14.1, boot", "v1.13.1 of v1.13.1 v1.14.1", ""},
	{"the new one fails, META was written", "install v1.14.1, meta, break v1.14.1, boot", "none of v1.13.1 v1.14.1", ""},
	{"META was written", "install v1.14.1, meta, boot", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"META was written before", "meta, install v1.14.1, break v1.14.1, boot", "v1.13.1 of v1.13.1 v1.14.1", ""},
	{"it fails later", "install v1.14.1, boot, break v1.14.1, boot", "none of v1.13.1 v1.14.1", ""},
	{"another one after it failed", "install v1.14.0, break v1.14.0, boot, install v1.14.1, boot", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"an installation fails", "install v1.13.9, boot, fail v1.14.1, boot", "v1.13.9 of v1.13.9 v1.14.1", ""}, // of which the latter is not whole
	{"an installation by Talos 1.13 fails", "fail v1.13.6, install v1.13.9, boot", "v1.13.9 of v1.13.1 v1.13.9", ""},
	{"an installation after one that failed", "install v1.13.9, boot, fail v1.14.0, install v1.14.1, boot", "v1.14.1 of v1.13.9 v1.14.1", ""},
	{"the second in one boot fails", "install v1.14.0, fail v1.14.1, boot", "v1.14.0 of v1.14.0 v1.14.1", "v1.13.1 of v1.13.1 v1.14.1"},
	{"rolled back", "install v1.14.1, boot, rollback", "v1.13.1 of v1.13.1 v1.14.1", ""},
	{"rolled back twice", "install v1.14.1, boot, rollback, rollback", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"two rollbacks in one boot", "install v1.14.1, boot, rollback twice", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"rolled back before it was booted", "install v1.14.1, rollback", "v1.13.1 of v1.13.1 v1.14.1", ""},
	{"a rollback leaves the tag", "install v1.14.1, break v1.13.1, rollback", "v1.14.1 of v1.13.1 v1.14.1", ""},
	{"upgraded after a rollback", "install v1.13.9, boot, rollback, install v1.14.1, boot", "v1.14.1 of v1.13.1 v1.14.1", ""},
}

// slotted is a machine whose slots are looked at.
type slotted interface {
	install(system string)
	fail(system string) // an installation that has begun to write
	boot()
	meta()
	rollback(times int)
	breaks(system string)
	// state is what runs, and the systems on the disk.
	state() (running string, systems []string)
}

// testSlots runs the cases on machines of both kinds.
func testSlots(t *testing.T, start func(t *testing.T, kind talossim.Bootloader) slotted) {
	t.Helper()
	for _, kind := range []talossim.Bootloader{talossim.GRUB, talossim.SystemdBoot} {
		for _, c := range slotCases {
			t.Run(fmt.Sprint(c.name, " ", kind), func(t *testing.T) {
				want := c.want
				if kind == talossim.SystemdBoot && c.systemdBoot != "" {
					want = c.systemdBoot
				}
				m := start(t, kind)
				for step := range strings.SplitSeq(c.steps, ", ") {
					if err := take(m, step); err != nil {
						t.Fatal(err)
					}
				}
				running, systems := m.state()
				slices.Sort(systems)
				expect(t, c.steps, running+" of "+strings.Join(systems, " "), want)
			})
		}
	}
}

func take(m slotted, step string) error {
	switch verb, system, _ := strings.Cut(step, " "); verb {
	case "install":
		m.install(system)
	case "fail":
		m.fail(system)
	case "break":
		m.breaks(system)
	case "boot":
		m.boot()
	case "meta":
		m.meta()
	case "rollback":
		m.rollback(1 + strings.Count(system, "twice"))
	default:
		return errors.New("unknown step " + step)
	}
	return nil
}

// simulated is a machine of the simulator.
type simulated struct {
	*world
	m *talossim.Machine
}

// TestSlots: the simulator does with slots and META as Talos does. The machine is a worker,
// whatever its name, so that no etcd ends the way back.
func TestSlots(t *testing.T) {
	testSlots(t, func(t *testing.T, kind talossim.Bootloader) slotted {
		w := newWorld(t)
		w.bootstrap("first")
		m := w.fleet.Add(talossim.Spec{Name: "cp-1", Public: []string{address(2)}, Installed: true, Talos: "v1.13.1", Bootloader: kind})
		m.PowerOn()
		w.pass(long)
		w.apply("cp-1", w.cluster.Worker("cp-1"))
		w.pass(long)
		return simulated{w, m}
	})
}

func (s simulated) install(system string) { expect(s.t, system, s.installs(system), "exit code 0") }

func (s simulated) fail(system string) {
	s.m.FailInstall(7)
	expect(s.t, system, s.installs(system), exitCode(system))
}

// exitCode is what an installer says that has failed when it had begun to write.
func exitCode(system string) string {
	if strings.HasPrefix(system, "v1.13.") {
		return "exit code 1"
	}
	return "exit code 7"
}

func (s simulated) installs(system string) string {
	name, err := s.pull(strings.Replace(newImage, "v1.14.1", system, 1))
	if err != nil {
		s.t.Fatal(err)
	}
	code, err := s.world.install(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint("exit code ", code)
}

func (s simulated) boot() { s.reboot() }

func (s simulated) meta() {
	s.must(s.admin("cp-1").MetaWrite(s.t.Context(), &machine.MetaWriteRequest{Key: 0x0e, Value: []byte("a note")}))
}

func (s simulated) rollback(times int) {
	for range times {
		s.must(s.admin("cp-1").Rollback(s.t.Context(), &machine.RollbackRequest{}))
	}
	s.pass(long)
}

func (s simulated) breaks(system string) { s.m.Break(system, talossim.Reverts) }

func (s simulated) state() (running string, systems []string) {
	running = "none"
	if r, err := s.admin("cp-1").Version(s.t.Context(), &emptypb.Empty{}); err == nil {
		running = r.GetMessages()[0].GetVersion().GetTag()
	}
	one, other := s.m.Systems()
	return running, []string{one.Talos, other.Talos}
}
