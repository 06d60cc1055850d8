package robot

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/robotsim"
)

// TestInstall: what is asked of Robot, in order, and what is told.
func TestInstall(t *testing.T) {
	w := newWorld(t)
	p := w.process(1)
	if err := p.run(w.target()); err != nil {
		t.Fatal(err, w.calls())
	}
	w.check()
	want := `
GET /server/321 200
GET /boot/321/rescue 200
GET /key 404
GET /boot/321/rescue/last 404
POST /key 201
POST /boot/321/rescue 200
POST /reset/321 200
` + strings.Repeat("GET /boot/321/rescue/last 200\n", 9) + `DELETE /key/KEY 200
DELETE /boot/321/rescue 200
POST /reset/321 200`
	if got := strings.ReplaceAll(w.calls(), p.keyPath(), "/key/KEY"); got != want {
		t.Errorf("calls%s", got)
	}
	if strings.Join(w.forgets, " ") != "home-1" {
		t.Errorf("forgotten: %v", w.forgets)
	}
	told := strings.Join(p.told, "\n")
	for _, text := range []string{
		"home-1: server 321, \"home-1\", AX41-NVMe in FSN1-DC10, 203.0.113.10, 2001:db8:1::",
		"the disk /dev/nvme0n1 is OVERWRITTEN with Talos v1.14.1",
		"overwriting /dev/nvme0n1 (SAMSUNG MZVL S1, 512 GB, /dev/disk/by-id/wwn-eui.01) with " + imageURL,
	} {
		if !strings.Contains(told, text) {
			t.Errorf("not told: %s\n%s", text, told)
		}
	}
}

// keyPath is that of the key of a process.
func (p *process) keyPath() string {
	for _, line := range p.told {
		if _, path, found := strings.Cut(line, "DELETE "); found && strings.HasPrefix(path, "/key/") {
			return strings.Fields(path)[0]
		}
	}
	return "no key"
}

// TestCrashAnywhere: whichever call fails, before its effect or after it, and whatever
// becomes of the run then, one further run ends with Talos on the disk, and nothing else.
func TestCrashAnywhere(t *testing.T) {
	calls := func() []robotsim.Call {
		w := newWorld(t)
		if err := w.process(1).run(w.target()); err != nil {
			t.Fatal(err)
		}
		return w.sim.Calls()
	}()
	for name, then := range map[string]func(*process){
		"killed": (*process).kill, "interrupted": func(p *process) { p.stop() }, "goes on": func(*process) {},
	} {
		for k := range calls {
			for _, after := range []bool{false, true} {
				w := newWorld(t)
				p := w.process(1)
				w.sim.Inject(robotsim.Fault{Call: k + 1, After: after, Then: func() { then(p) }})
				err := p.run(w.target())
				if name == "goes on" && err != nil {
					t.Fatalf("%s, call %d (%s), after %v: %v", name, k+1, calls[k], after, err)
				}
				if state := w.sim.State(number); name == "interrupted" && (state.Active || len(w.sim.Keys()) > 0) {
					t.Fatalf("%s, call %d (%s), after %v: left %+v, keys %v", name, k+1, calls[k], after, state, w.sim.Keys())
				}
				w.sim.ResetCalls()
				if err := w.process(2).run(w.target()); err != nil {
					t.Fatalf("%s, call %d (%s), after %v: the next run: %v%s", name, k+1, calls[k], after, err, w.calls())
				}
				if w.check(); t.Failed() {
					t.Fatalf("%s, call %d (%s), after %v:%s", name, k+1, calls[k], after, w.calls())
				}
			}
		}
	}
}

// TestErrorAnswers: each call that changes something is refused by Robot. The error says
// in which state the server is, and the next run ends well.
func TestErrorAnswers(t *testing.T) {
	for _, tt := range []struct {
		call        int
		status      int
		code, wants string
	}{
		{5, 500, "KEY_CREATE_FAILED", "it was not restarted, and nothing was changed on its disk"},
		{6, 500, "BOOT_ACTIVATION_FAILED", "it was not restarted, and nothing was changed on its disk"},
		{7, 409, "RESET_MANUAL_ACTIVE", "it was not restarted, and nothing was changed on its disk"},
		{10, 403, "RATE_LIMIT_EXCEEDED", "it was restarted from its disk, on which nothing was changed"},
		{17, 500, "KEY_DELETE_FAILED", "it was restarted from its disk, on which nothing was changed"},
		{18, 500, "BOOT_DEACTIVATION_FAILED", "Talos is on its disk, and it runs the rescue system until it restarts"},
		{19, 404, "RESET_NOT_AVAILABLE", "Talos is on its disk, and it runs the rescue system until it restarts"},
	} {
		w := newWorld(t)
		w.sim.Inject(robotsim.Fault{Call: tt.call, Status: tt.status, Code: tt.code})
		err := w.process(1).run(w.target())
		said := strings.NewReplacer("RATE_LIMIT_EXCEEDED", "the limit of 0 requests").Replace(tt.code)
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(err.Error(), "server 321 (home-1): "+tt.wants) || diag.CodeOf(err) != diag.Remote {
			t.Errorf("%s: error %v (exit code %d)%s", tt.code, err, diag.CodeOf(err), w.calls())
		}
		if state := w.sim.State(number); state.Active || len(w.sim.Keys()) > 0 {
			t.Errorf("%s: left %+v, keys %v", tt.code, state, w.sim.Keys())
		}
		w.sim.ResetCalls()
		if err := w.process(2).run(w.target()); err != nil {
			t.Errorf("%s: the next run: %v", tt.code, err)
		}
		w.check()
	}
}

// TestOtherHost: another machine answers at the address. Nothing is written.
func TestOtherHost(t *testing.T) {
	w := newWorld(t)
	w.sim.Impersonate(number)
	err := w.process(1).run(w.target())
	if err == nil || diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "which is none of those that Hetzner names: nothing was written") {
		t.Errorf("error %v", err)
	}
	state := w.sim.State(number)
	if d := w.sim.Written(number, "/dev/nvme0n1"); d.URL != "" || state.Active || len(w.sim.Keys()) > 0 || !state.FromDisk {
		t.Errorf("written %q, %+v, keys %v", d.URL, state, w.sim.Keys())
	}
}

// TestDisks: what is on a disk, and which disk it is.
func TestDisks(t *testing.T) {
	const left = "restarted from its disk, on which nothing was changed"
	one := robotsim.Disk{Path: "/dev/nvme0n1", Model: "A", Serial: "S1", WWN: "eui.01", Size: 512_000_000_000}
	raid, talos, swap, other := one, one, one, one
	raid.Table, raid.Parts = "gpt", []string{"linux_raid_member", "linux_raid_member"}
	talos.Table, talos.Parts = "gpt", []string{"EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL"}
	swap.Table = "swap"
	other.Path = "/dev/nvme1n1"
	for _, tt := range []struct {
		name  string
		disks []robotsim.Disk
		allow bool
		err   string
	}{
		{"empty", []robotsim.Disk{one, other}, false, ""},
		{"an array", []robotsim.Disk{raid}, false, "holds the partitions linux_raid_member, linux_raid_member\n  if nothing of it is needed: --allow disk/home-1"},
		{"an array, allowed", []robotsim.Disk{raid}, true, ""},
		{"configured Talos", []robotsim.Disk{talos}, false, "holds the partitions EFI, BIOS, BOOT, META, STATE, EPHEMERAL"},
		{"a file system", []robotsim.Disk{swap}, false, "holds something that is swap"},
		{"none", []robotsim.Disk{other}, true, "disk /dev/nvme0n1: the server has none: it has /dev/nvme1n1 (A S1, 512 GB, "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.disks...)
			target := w.target()
			target.Overwrite = tt.allow
			err := w.process(1).run(target)
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				w.check()
				return
			}
			state := w.sim.State(number)
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), left) {
				t.Errorf("error %v", err)
			}
			if state.Active || state.InRescue || !state.FromDisk || len(w.sim.Keys()) > 0 || w.sim.Written(number, "/dev/nvme0n1").URL != "" {
				t.Errorf("left %+v, keys %v", state, w.sim.Keys())
			}
		})
	}
}

// TestDownloadFails: the image does not come whole. It is tried again, and then told.
func TestDownloadFails(t *testing.T) {
	for _, tt := range []struct {
		times int
		err   string
	}{{2, ""}, {9, "its disk is overwritten in part, and it runs the rescue system\n  run the same command again"}} {
		w := newWorld(t)
		whole, times := w.fetch, tt.times
		w.fetch = func(url string) (io.ReadCloser, error) {
			if times--; times >= 0 {
				return nil, errors.New("404 Not Found")
			}
			return whole(url)
		}
		err := w.process(1).run(w.target())
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v", err)
			}
			times = 0
			err = w.process(2).run(w.target())
		}
		if err != nil {
			t.Fatal(err)
		}
		w.check()
	}
}

// TestNoSecrets: neither the password of the account nor that of the rescue system, nor a
// private key, is told or in an error.
func TestNoSecrets(t *testing.T) {
	for call := range 20 {
		for _, status := range []int{0, 500} {
			w := newWorld(t)
			w.sim.Inject(robotsim.Fault{Call: call, Status: status, Code: "INTERNAL_ERROR"})
			p := w.process(1)
			err := p.run(w.target())
			text := strings.Join(p.told, "\n")
			if err != nil {
				text += err.Error()
			}
			for _, canary := range []string{password, "canary", "PRIVATE", "ssh-ed25519"} {
				if strings.Contains(text, canary) {
					t.Fatalf("call %d, status %d: %q in\n%s", call, status, canary, text)
				}
			}
		}
	}
}
