//go:build linux

package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestPages follows how-to pages, one after the other, on the same machines: what
// stands behind a $ is run, and prints what the page says.
func TestPages(t *testing.T) {
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Kubernetes: true})
	u := &user{t: t, bed: bed, repository: bed.NewRepository(t, build(t))}
	u.publish()
	for _, page := range []string{"first-cluster.md", "change-a-setting.md"} {
		u.follow(steps(t, page))
	}
}

// follow runs the commands of a page; each has to print what the page says.
func (u *user) follow(steps []step) {
	u.t.Helper()
	for _, s := range steps {
		output, err := u.shell(s.command)
		if err != nil || !s.printed.MatchString(output) {
			u.t.Fatalf("$ %s: %v\n%s\ndoes not fit %s", s.command, err, output, s.printed)
		}
	}
}

// step is a command of a page, and what it prints.
type step struct {
	command string
	printed *regexp.Regexp
}

// blocks are the parts of a page that show a terminal.
var blocks = regexp.MustCompile("(?s)```text\n(\\$ .*?)```")

// steps reads a how-to page. In what is printed, … stands for the rest of a line, or
// alone for any lines.
func steps(t *testing.T, page string) (found []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
		for part := range strings.SplitSeq(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			command, printed, _ := strings.Cut(part, "\n")
			if printed != "" && !strings.HasSuffix(printed, "\n") { // the next command follows
				printed += "\n"
			}
			pattern := regexp.QuoteMeta(printed)
			pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, "(?s:.*)")
			pattern = strings.ReplaceAll(pattern, "…", "[^\n]*")
			found = append(found, step{command, regexp.MustCompile("^" + pattern + "$")})
		}
	}
	return found
}

// publish puts the repository where others see it, as apply wants it.
func (u *user) publish() {
	u.t.Helper()
	origin := filepath.Join(u.t.TempDir(), "origin.git")
	for _, command := range []string{
		"git init -q --bare " + origin, "git init -q -b main", "git config user.name you", "git config user.email you@example.com",
		"git add -A", "git commit -q -m 'A cluster'", "git remote add origin " + origin, "git push -q -u origin main",
	} {
		if out, err := u.shell(command); err != nil {
			u.t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}

// shell runs a command line in the repository.
func (u *user) shell(line string) (output string, err error) {
	u.t.Helper()
	dir := u.t.TempDir()
	if err := os.Symlink(build(u.t), filepath.Join(dir, "talosgen")); err != nil {
		u.t.Fatal(err)
	}
	command := exec.CommandContext(u.t.Context(), "sh", "-c", line)
	command.Dir = u.repository.Root()
	command.Env = append(append(os.Environ(), u.environ...), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	u.t.Logf("$ %s\n%s(%v)", line, out, err)
	return string(out), err
}
