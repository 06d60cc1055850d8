package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// TestRehearsedOrder rehearses what then happens: for generated clusters, a rehearsal
// of a change, of an upgrade, also of one that was stopped between installation and boot,
// of the way back and of the end has the steps of the run that follows it, in their order,
// and changes nothing at Hetzner Cloud, at nodes and in Kubernetes.
func TestRehearsedOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	if all := seeds(3, 12, 300, lives); alone(t, all) {
		each(t, all, 1, 10, rehearsedOrder) // one at once: time is quiet only then
	}
}

func rehearsedOrder(dir string, o generate.Options) error {
	t := turnOf(o)
	if !t.settles() || len(t.begin.Environments[0].Cluster) == 0 {
		return nil
	}
	g, err := layOutOf(dir, t.begin)
	if err != nil {
		return as("sources", err)
	}
	l := &liveSite{generated: g, name: g.Environments[0].Name}
	if err := g.must("render", l.name); err != nil {
		return as("render", err)
	}
	if err := l.begin(); err != nil {
		return as("site", err)
	}
	defer l.site.close()
	steps := []struct {
		kind string
		do   func() error
	}{
		{"first apply", func() error { return l.agreed("apply", "--yes") }},
		{"change", func() error { return l.changeTo(t) }},
		{"rehearsed change", func() error { return l.compare("apply") }},
		{"newer Talos", func() error { return l.otherTalos(1) }},
		{"stopped upgrade", l.stopped},
		{"rehearsed upgrade", func() error { return l.compare("upgrade", "--max-parallel", "2") }},
		{"older Talos", func() error { return l.otherTalos(-1) }},
		{"rehearsed way back", func() error { return l.compare("upgrade", "--rollback") }},
		{"rehearsed end", func() error {
			if len(l.site.infra.Servers) == 0 {
				return nil // machines are not talosgen's to remove
			}
			return l.compare("destroy")
		}},
		{"output", g.sound},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return as(step.kind, err)
		}
	}
	return nil
}

// liveSite is the simulated cluster that plays the living one. Its time is that of a
// rehearsal, so that runs take as long.
type liveSite struct {
	*generated

	name string
	site *trySite
}

// worked is the time by what this process has worked. On a busy machine a step that
// waits for a processor takes no longer so: a simulated clock loses its patience with
// those who work, not with those who wait.
func worked() time.Time {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return time.Now()
	}
	return processBegan.Add(time.Duration(used.Utime.Nano()+used.Stime.Nano()) / time.Duration(runtime.GOMAXPROCS(0)))
}

var processBegan = time.Now()

func (l *liveSite) begin() (err error) {
	c := cli.NewContext(cli.NewApp(), flag.NewFlagSet("", flag.ContinueOnError), nil)
	c.Context = context.Background()
	_, _ = l.runIn(func(w *app) {
		w.clock = clock{worked, sleepFor}
		l.site, err = newTrySite(c, w, l.name)
	}, "version")
	if err != nil {
		return err
	}
	for _, image := range l.site.infra.Images {
		if !image.Build {
			l.site.sim.AddSnapshot("Talos, made by somebody", image.Architecture, snapshotDisk, image.Labels)
		}
	}
	return nil
}

// in changes an app into one of the site.
func (l *liveSite) in(w *app) {
	outside := *w
	outside.clock = clock{worked, sleepFor}
	*w = *l.site.app(&outside)
}

// beside changes an app into one that looks at the site: its time stands still
// meanwhile, and that of a rehearsal goes by the real one.
func (l *liveSite) beside(w *app) {
	l.in(w)
	w.clock.sleep = sleepFor
}

// agreed runs a command with all consent that it asks for.
func (l *liveSite) agreed(command string, more ...string) error {
	return l.agreedIn(l.in, append([]string{command, l.name, "--allow-dirty"}, more...)...)
}

// agreedIn runs a command in an app, and gives the consent that it lacks.
func (l *liveSite) agreedIn(in func(*app), args ...string) error {
	code, said := l.runIn(in, args...)
	if code != 0 {
		return fmt.Errorf("talosgen %s: exit code %d\n%s", strings.Join(args, " "), code, said)
	}
	return nil
}

// changeTo makes the change of a turn in the repository.
func (l *liveSite) changeTo(t turn) error {
	s := &generatedSite{generated: l.generated}
	err := errors.Join(s.replace(t.end), l.must("secrets", "sync", l.name), l.must("render", l.name))
	if err != nil {
		return err
	}
	before := l.site.infra.Machines
	if l.site.infra, err = renderedInfrastructure(l.dir, l.name); err != nil {
		return err
	}
	for _, m := range l.site.infra.Machines {
		if !slices.ContainsFunc(before, func(o schemas.InfraMachine) bool { return o.Name == m.Name }) {
			l.site.fleet.Add(preinstalled(m)).PowerOn()
		}
	}
	return l.site.clock.Sleep(context.Background(), time.Minute)
}

// otherTalos changes the patch of Talos in the repository.
func (l *liveSite) otherTalos(by int) error {
	file := filepath.Join(l.dir, "envs", l.name, "cluster.yaml")
	text, err := os.ReadFile(file)
	at := talosVersion.FindSubmatchIndex(text)
	if err != nil || at == nil {
		return err
	}
	patch, err := strconv.Atoi(string(text[at[2]:at[3]]))
	if err != nil {
		return err
	}
	other := string(text[:at[2]]) + strconv.Itoa(patch+by) + string(text[at[3]:])
	return errors.Join(os.WriteFile(file, []byte(other), 0o644), l.must("render", l.name))
}

// stopped is an upgrade that goes on no further than to the first node with an installed
// system, which does not reboot; every other time.
func (l *liveSite) stopped() error {
	if l.Seed%2 == 0 {
		return nil
	}
	report, err := l.rehearse("upgrade")
	if err != nil || report.Result == rehearsal.Refused || len(report.Steps) == 0 {
		return err
	}
	l.site.fleet.Inject(talossim.Fault{Method: "Reboot", As: talossim.Status(codes.FailedPrecondition, "not now"), Times: -1})
	defer l.site.fleet.ClearFaults()
	// Before Talos 1.13 an installer reboots by itself: then it comes to its end.
	_, _ = l.runIn(l.in, agreedTo(report, "upgrade", l.name, "--allow-dirty", "--yes")...)
	return nil
}

// rehearse rehearses a command, which changes nothing.
func (l *liveSite) rehearse(command string, more ...string) (report rehearsal.Report, err error) {
	_, _ = l.runIn(l.in, "access", "open", l.name, "--allow-dirty") // where it is closed
	l.site.sim.ResetCalls()
	l.site.fleet.ResetCalls()
	code, said := l.runIn(l.beside, append([]string{"rehearse", l.name, command, "-o", "json"}, more...)...)
	if err := l.unchanged(); err != nil {
		return report, err
	}
	i := strings.Index(said, "\n{\n")
	if i < 0 || json.NewDecoder(strings.NewReader(said[i:])).Decode(&report) != nil {
		return report, fmt.Errorf("rehearse %s: exit code %d\n%s", command, code, said)
	}
	return report, nil
}

// agreedTo is a command with the consent that its rehearsal says it takes.
func agreedTo(report rehearsal.Report, args ...string) []string {
	for _, risk := range report.Risks {
		args = append(args, "--allow", risk.ID)
	}
	return args
}

// compare rehearses a command, runs it, and compares.
func (l *liveSite) compare(command string, more ...string) error {
	report, err := l.rehearse(command, more...)
	if err != nil {
		return err
	}
	args := append([]string{command, l.name, "--allow-dirty"}, more...)
	if report.Result == rehearsal.Refused {
		if code, said := l.runIn(l.in, append(args, "--yes")...); code == 0 {
			return fmt.Errorf("%s was rehearsed as refused, for %q, and\n%s", command, report.Problems, said)
		}
		return nil
	}
	if command == "destroy" {
		l.site.fleet.LetEnd()
		args = append(args, "--yes-destroy", report.Cluster, "--allow-made")
	} else {
		args = agreedTo(report, append(args, "--yes")...)
	}
	recorder := &rehearsal.Recorder{Now: l.site.clock.Now}
	code, ran := l.runIn(func(w *app) { l.in(w); w.hears = recorder.Event }, args...)
	if failed := report.Result == rehearsal.Failed; failed != (code != 0) {
		return fmt.Errorf("%s was rehearsed as %s, for %q, and ended with %d\n%s", command, report.Result, report.Problems, code, ran)
	}
	real := recorder.Report(rehearsal.Seen{Until: l.site.clock.Now()})
	if rehearsed, happened := inOrder(report.Steps), inOrder(real.Steps); rehearsed != happened {
		return fmt.Errorf("%s: what was rehearsed is\n%s\nand what happened\n%s\n%s", command, rehearsed, happened, ran)
	}
	return nil
}

// unchanged is nil if everything since the last reset was reading.
func (l *liveSite) unchanged() error {
	for _, c := range l.site.sim.Calls() {
		if c.Method != "GET" {
			return fmt.Errorf("a rehearsal asked Hetzner Cloud to %s %s", c.Method, c.Path)
		}
	}
	for _, c := range l.site.fleet.Calls() {
		if !strings.HasPrefix(c.Method, "GET /") && !slices.Contains(readingCalls, c.Method) {
			return fmt.Errorf("a rehearsal asked %s to %s", c.Machine, c.Method)
		}
	}
	return nil
}

// inOrder are the steps by when they begin. Of those that begin at once none is first.
func inOrder(steps []rehearsal.Step) string {
	slices.SortStableFunc(steps, func(a, b rehearsal.Step) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Name, b.Name))
	})
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "%s: %s\n", s.Stage, s.Name)
	}
	return b.String()
}
