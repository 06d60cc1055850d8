package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/testenv/screen"
)

// onTerminal is talosgen on a pseudo-terminal, and what its screen shows.
type onTerminal struct {
	t        *testing.T
	cmd      *exec.Cmd
	pty      *screen.Pty
	settings unix.Termios // before
	resume   *os.File
	stops    int // that it has come to
	frames   strings.Builder

	mu    sync.Mutex
	shown *screen.Screen
	read  chan struct{} // closed when nothing more comes
}

// startOnTerminal starts the command of a run in a repository with the example
// environments. Its time stands still at each stop.
func startOnTerminal(t *testing.T, run terminalRun) *onTerminal {
	t.Helper()
	asked, err := json.Marshal(run.stops)
	if err != nil {
		t.Fatal(err)
	}
	resumed, resume, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("on-terminal", run.args...)
	cmd.Dir = exampleClone(t)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TERM=xterm-256color", "PAGER=cat", "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1",
		stopsVariable + "=" + string(asked), beforeVariable + "=" + run.before,
	}
	cmd.ExtraFiles = []*os.File{resumed}
	o := &onTerminal{t: t, cmd: cmd, resume: resume, shown: screen.NewScreen(run.columns, run.rows), read: make(chan struct{})}
	if o.pty, err = screen.Start(cmd, run.columns, run.rows); err != nil {
		t.Fatal(err)
	}
	_ = resumed.Close() // the child has it
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = errors.Join(o.pty.Close(), resume.Close())
	})
	if o.settings, err = o.pty.Settings(); err != nil {
		t.Fatal(err)
	}
	go o.show()
	return o
}

// exampleClone is a repository with the example environments.
func exampleClone(t *testing.T) string {
	t.Helper()
	repo, err := exampleFiles()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := repo.writeMissing(dir); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("sh", "-ec", `git init -q -b main && git add --all && git commit -q -m start && git branch production
git init -q --bare "$1" && git remote add origin "$1" && git push -q -u origin main && git push -q -u origin production`, "sh", t.TempDir())
	git.Dir = dir
	git.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// show shows what the command writes, until it ends.
func (o *onTerminal) show() {
	defer close(o.read)
	buffer := make([]byte, 4096)
	for {
		n, err := o.pty.Read(buffer)
		o.mu.Lock()
		_, _ = o.shown.Write(buffer[:n])
		o.mu.Unlock()
		if err != nil {
			return // as Linux says that nobody has the terminal any more
		}
	}
}

// await waits until the command's time stands still at the next stop, and everything is
// on the screen.
func (o *onTerminal) await() {
	o.t.Helper()
	o.stops++
	o.until(fmt.Sprintf("the stop number %d", o.stops), func(s *screen.Screen) bool { return s.Bells == o.stops })
}

// see waits until a text is on the screen.
func (o *onTerminal) see(text string) {
	o.t.Helper()
	o.until(strconv.Quote(text), func(s *screen.Screen) bool { return strings.Contains(s.Text(), text) })
}

// mostPatient is how long a test waits for a screen.
const mostPatient = 2 * time.Minute

func (o *onTerminal) until(what string, shows func(*screen.Screen) bool) {
	o.t.Helper()
	const every = 10 * time.Millisecond
	for ended, waited := false, time.Duration(0); !ended && waited < mostPatient; waited += every {
		select {
		case <-o.read:
			ended = true
		default:
			_ = sleepFor(o.t.Context(), every)
		}
		o.mu.Lock()
		ok := shows(o.shown)
		o.mu.Unlock()
		if ok {
			return
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.t.Fatalf("%s did not come:\n%s", what, o.shown.All())
}

// frame keeps what is on the screen.
func (o *onTerminal) frame(title string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x, y := o.shown.Cursor()
	lines, scrolled := o.shown.Lines()
	rows := strings.Split(uncounted(strings.Join(ordered(lines), "\n")), "\n")[scrolled:]
	fmt.Fprintf(&o.frames, "-- %s --\n%s\n(cursor at column %d of line %d)\n", title, strings.TrimRight(strings.Join(rows, "\n"), "\n"), x+1, y+1)
}

// goOn lets time go on.
func (o *onTerminal) goOn() { fmt.Fprintln(o.resume) }

// typed types a text.
func (o *onTerminal) typed(text string) {
	o.t.Helper()
	if _, err := io.WriteString(o.pty, text); err != nil {
		o.t.Fatal(err)
	}
}

// resize changes the size of the terminal.
func (o *onTerminal) resize(columns, rows int) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shown.Resize(columns, rows)
	if err := o.pty.Resize(columns, rows); err != nil {
		o.t.Fatal(err)
	}
}

// end waits for the end of the command, and compares the frames.
func (o *onTerminal) end(code int, golden string) {
	o.t.Helper()
	_ = o.cmd.Wait() // its code tells
	<-o.read
	if got := o.cmd.ProcessState.ExitCode(); got != code {
		o.t.Errorf("exit code %d, want %d", got, code)
	}
	o.frame("at the end")
	if o.shown.Hidden || len(o.shown.Unknown) > 0 || o.shown.Bells != o.stops {
		o.t.Errorf("the cursor is hidden: %t; sequences that terminals need not know: %q; the bell rings by itself: %t", o.shown.Hidden, o.shown.Unknown, o.shown.Bells != o.stops)
	}
	if after, err := o.pty.Settings(); err != nil || after != o.settings {
		o.t.Errorf("the terminal is left with other settings: %+v, before %+v (%v)", after, o.settings, err)
	}
	file := filepath.Join("testdata", "terminal", golden+".txt")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(o.frames.String()), 0o644)); err != nil {
			o.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		o.t.Fatal(err)
	}
	if got := o.frames.String(); got != string(want) {
		o.t.Errorf("%s: got\n%s", file, got)
	}
}

// ended matches the line of a step that has ended: its number, what was done, and how long
// that took.
var ended = regexp.MustCompile(`^(  \[ *\d+/\d+\] )((\w+)\s(?s:.*)\s(\S+ s|\d+m\d+s)(?s:: .*)?)$`)

// ordered are lines whose steps of one kind stand in the order of their names where one
// follows the other: what ended in the same moment, a race has ordered.
func ordered(written []screen.Line) []string {
	lines := whole(written)
	for i := 0; i < len(lines); {
		j := i
		var names []string
		for first := ended.FindStringSubmatch(lines[i]); first != nil && j < len(lines); j++ {
			step := ended.FindStringSubmatch(lines[j])
			if step == nil || step[3] != first[3] || step[4] != first[4] {
				break
			}
			names = append(names, step[2])
		}
		slices.Sort(names)
		for k, name := range names {
			lines[i+k] = ended.FindStringSubmatch(lines[i+k])[1] + name
		}
		i = max(j, i+1)
	}
	return lines
}

// whole are the lines of a screen, each with those in which talosgen goes on with it.
func whole(written []screen.Line) (lines []string) {
	for _, line := range written {
		text := strings.Join(line.Rows, "\n")
		if n := len(lines); n > 0 && strings.HasPrefix(text, hang) && strings.HasPrefix(lines[n-1], "  [") {
			lines[n-1] += "\n" + text
			continue
		}
		lines = append(lines, text)
	}
	return lines
}

// counts match how many requests were made, or are left: that depends on who asks first.
var (
	left   = regexp.MustCompile(`\d+( requests left|, \d+ left in| left in this hour)`)
	counts = regexp.MustCompile(`(?m)^(  [A-Za-z ]+ (?:[0-9.]+ s|\d+m\d+s))((?: +\d+)+)$`)
	digit  = regexp.MustCompile(`\d`)
)

// uncounted is a text without these numbers.
func uncounted(text string) string {
	text = left.ReplaceAllStringFunc(text, func(found string) string { return digit.ReplaceAllString(found, "#") })
	return counts.ReplaceAllStringFunc(text, func(row string) string {
		part := counts.FindStringSubmatch(row)
		return part[1] + digit.ReplaceAllString(part[2], "#")
	})
}

// terminalRun is a command on a terminal, and what happens there.
type terminalRun struct {
	name          string
	columns, rows int
	before        string // a command that ran on the same project
	args          []string
	stops         []stop
	play          func(*onTerminal)
	code          diag.Code
}

// waits are stops of a run: one step of a stage says what it waits for.
func waits(stage, step, text string) stop {
	return stop{Stage: stage, Step: step, State: progress.Note, Text: text}
}

var terminalRuns = []terminalRun{
	{
		name: "try-80x24", columns: 80, rows: 24, args: []string{"try", "home"},
		stops: []stop{
			waits("nodes", "configure home-1", "waits until it is configured: it is rebooting"),
			waits("nodes", "bootstrap etcd", "waits: it is unknown"),
			waits("kubernetes", "wait for sources", ""),
		},
		play: func(o *onTerminal) { o.frameEach("machines reboot", "etcd is not bootstrapped yet", "Flux works") },
	},
	{
		name: "apply-120x40", columns: 120, rows: 40, args: []string{"apply", "prod", "--yes"},
		before: "apply prod --yes --stage infrastructure",
		stops: []stop{
			waits("nodes", "configure acme-production-eu-central-control-plane-1", "waits until it is configured"),
			waits("nodes", "bootstrap etcd", "waits: it is unknown"),
			waits("kubernetes", "wait for sources", ""),
		},
		play: func(o *onTerminal) {
			o.await()
			o.frame("120 columns")
			o.resize(80, 24)
			o.frame("80 columns, before anything is drawn")
			o.goOn()
			o.frameEach("80 columns", "Flux works")
		},
	},
	{
		name: "apply-200x50", columns: 200, rows: 50, args: []string{"apply", "home"}, code: diag.Interrupted,
		stops: []stop{waits("nodes", "bootstrap etcd", "waits: it is unknown")},
		play: func(o *onTerminal) {
			o.see("[y/N]")
			o.frame("it asks")
			o.typed("y\n")
			o.await()
			o.frame("etcd is not bootstrapped yet")
			o.typed(ctrlC)
		},
	},
	{
		name: "interrupted-120x40", columns: 120, rows: 40, args: []string{"apply", "prod", "--yes"}, code: diag.Interrupted,
		before: "image build prod",
		stops:  []stop{{Stage: "infrastructure", Step: "create network/acme-production-eu-central", State: progress.Begun}},
		play: func(o *onTerminal) {
			o.await()
			o.frame("the first calls")
			o.typed(ctrlC)
		},
	},
	{
		name: "plan-80x24", columns: 80, rows: 24, args: []string{"plan", "prod"}, code: diag.Differences,
		play: func(*onTerminal) {},
	},
	{
		name: "asked-80x24", columns: 80, rows: 24, args: []string{"apply", "home"}, code: diag.Interrupted,
		play: func(o *onTerminal) { o.see("[y/N]"); o.typed(ctrlC) },
	},
}

// ctrlC is what a terminal sends for it.
const ctrlC = "\x03"

// frameEach keeps what is on the screen at the next stops.
func (o *onTerminal) frameEach(titles ...string) {
	o.t.Helper()
	for _, title := range titles {
		o.await()
		o.frame(title)
		o.goOn()
	}
}

// TestTerminal has runs on real pseudo-terminals: what is on their screens at defined
// moments, when they get narrower, and after Ctrl-C.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, run := range terminalRuns {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			o := startOnTerminal(t, run)
			run.play(o)
			o.end(int(run.code), run.name)
		})
	}
}
