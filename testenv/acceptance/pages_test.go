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

// TestPages makes a cluster of machines in maintenance mode, as how-to pages say,
// one after the other: what stands behind a $ is run, and prints what the page says.
// The cluster becomes healthy, and the kubeconfig that talosgen writes is good for
// kubectl.
func TestPages(t *testing.T) {
	t.Parallel()
	bed := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Workers: 1, Kubernetes: true})
	u := &user{t: t, bed: bed, repository: bed.NewRepository(t)}
	u.publish(newRemote(t))
	for _, page := range []string{"first-cluster.md", "change-a-setting.md"} {
		u.follow(steps(t, page))
	}
	u.must("health", "lab", "--wait", "4m")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	u.must("kubeconfig", "lab", "--output", file)
	u.kubectlWorks(file)
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

// newRemote is an empty repository to push to.
func newRemote(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return dir
}

// publish commits the repository, and pushes it to where others see it, as apply
// wants it.
func (u *user) publish(origin string) {
	u.t.Helper()
	for _, command := range []string{
		"git init -q -b main", "git config user.name you", "git config user.email you@example.com",
		"git add -A", "git commit -q -m 'A cluster'", "git remote add origin " + origin, "git push -q -u origin main",
	} {
		if out, err := u.shell(command); err != nil {
			u.t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}
