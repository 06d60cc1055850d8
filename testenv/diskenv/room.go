//go:build linux

package diskenv

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/child"
)

// room is where installers run: mounts and a root of their own, with the programs of
// the operating system, and what an installer image has.
type room struct {
	t      testing.TB
	holder *exec.Cmd // it is there as long as this process has it
}

// Folders of the test that are in the room.
const (
	assetsFolder   = "assets"
	programsFolder = "bin"
)

//go:embed room.sh
var script string

// Programs that stand in for others: udevadm, which GRUB asks where a device is; mkfs.vfat,
// for a kernel without vfat; mkfs.xfs, as Talos names a file of options that Debian lacks.
var standIns = map[string]string{
	"udevadm": `for last; do :; done
path=$(readlink -f "/sys/dev/block/$(stat -c %Hr:%Lr "${last#--name=}")")
echo "${path#/sys}"`,
	"mkfs.vfat": `for last; do :; done
exec mkfs.ext4 -q -F "$last"`,
	"mkfs.xfs": `left=$#
while [ "$left" -gt 0 ]; do
    word=$1; shift; left=$((left - 1))
    if [ "$word" = -c ]; then shift; left=$((left - 1)); else set -- "$@" "$word"; fi
done
exec /usr/sbin/mkfs.xfs "$@"`,
}

// newRoom makes one. It ends with the test.
func newRoom(t testing.TB, folder string, uefi bool, installers map[string]string) *room {
	t.Helper()

	for name, text := range standIns {
		write(t, filepath.Join(folder, programsFolder, name), "#!/bin/sh\n"+text+"\n")
	}

	arguments := []string{"--mount", "--propagation", "private", "sh", "-c", script, "sh", folder, fmt.Sprint(uefi)}
	for release, programs := range installers {
		arguments = append(arguments, release, programs)
	}

	r := &room{t: t, holder: exec.Command("unshare", arguments...)}
	p := begin(t, r.holder)
	p.expect("ready")
	t.Cleanup(p.end)

	return r
}

// root is the folder that the room's root is reached by.
func (r *room) root() string { return fmt.Sprintf("/proc/%d/root", r.holder.Process.Pid) }

func (r *room) command(words ...string) *exec.Cmd {
	target := fmt.Sprint(r.holder.Process.Pid)
	command := exec.Command("nsenter", append([]string{"--target", target, "--mount", "--root", "--wd"}, words...)...)
	command.Env = []string{"PATH=/bin-of-test:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}

	return command
}

// run runs a program to its end.
func (r *room) run(input string, words ...string) {
	r.t.Helper()

	command := r.command(words...)
	command.Stdin = strings.NewReader(input)

	if output, err := command.CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, output)
	}
}

// start starts a program that answers each line by one.
func (r *room) start(words ...string) *program {
	r.t.Helper()

	return begin(r.t, r.command(words...))
}

// program is one that runs and answers.
type program struct {
	t       testing.TB
	command *exec.Cmd
	input   *os.File
	output  *bufio.Scanner
	ended   bool
}

func begin(t testing.TB, command *exec.Cmd) *program {
	t.Helper()

	theirs, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()

	command.Stdin = theirs

	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	command.Stderr = t.Output()

	if err := child.Start(command); err != nil {
		t.Fatal(err)
	}

	p := &program{t: t, command: command, input: input, output: bufio.NewScanner(output)}
	t.Cleanup(p.end)

	return p
}

func (p *program) ask(line string) string {
	p.t.Helper()
	fmt.Fprintln(p.input, line)

	if !p.output.Scan() {
		p.t.Fatalf("no answer to %q: %v", line, p.output.Err())
	}

	return p.output.Text()
}

// expect waits for a line.
func (p *program) expect(line string) {
	p.t.Helper()

	if !p.output.Scan() || p.output.Text() != line {
		p.t.Fatalf("%q, want %q", p.output.Text(), line)
	}
}

// end ends the program by the end of its input.
func (p *program) end() {
	if p.ended {
		return
	}

	p.ended = true
	_ = p.input.Close()
	_ = p.command.Wait()
}

func write(t testing.TB, name, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
