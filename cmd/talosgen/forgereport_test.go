package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/internal/comment"
	"github.com/talosgen/talosgen/internal/scaffold"
)

// reportScript is what a pipeline of init says things with, for GitHub or GitLab.
func reportScript(t *testing.T, ci string) string {
	t.Helper()
	files, err := scaffold.Files(scaffold.Options{Provider: "hetzner", CI: ci, Env: "dev", ClusterName: "dev", TalosgenVersion: version, AgeRecipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Path, "report.sh") {
			file := filepath.Join(t.TempDir(), "report.sh")
			if err := os.WriteFile(file, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatalf("%s has no script", ci)
	return ""
}

// report runs the script.
func (f *forge) report(script string, args ...string) (string, error) {
	command := exec.Command("bash", append([]string{script}, args...)...)
	command.Env = append(os.Environ(), "GITHUB_API_URL="+f.URL+"/api", "GITHUB_REPOSITORY=example/clusters", "GITHUB_TOKEN="+forgeToken,
		"CI_API_V4_URL="+f.URL+"/lab", "CI_PROJECT_ID=7", "TALOSGEN_REPORT_TOKEN="+forgeToken)
	output, err := command.CombinedOutput()
	return string(output), err
}

// TestReport says at both forges what was found: once, changed by the next run, closed
// when there is nothing left.
func TestReport(t *testing.T) {
	needs(t, "curl", "jq", "bash", "perl")
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		t.Run(ci, func(t *testing.T) {
			t.Parallel()
			script, f, dir := reportScript(t, ci), newForge(t), t.TempDir()
			say := func(text string, args ...string) {
				t.Helper()
				file := filepath.Join(dir, "said.md")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if args[0] != "close" {
					args = append(args, file)
				}
				if out, err := f.report(script, args...); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			long := strings.Repeat("é", comment.Limit/2-100)
			say("one & 'two' \"three\" @file\n"+long, "comment", "7")
			say("second", "comment", "7")
			if said := ours(f.comments); len(said) != 1 || said[0].body != planMark+"\nsecond" {
				t.Errorf("comments: %+v", said)
			}
			say("", "close", "dev") // there is none
			say("a\nb", "open", "dev")
			say("of another", "open", "dev-2")
			say("c", "open", "dev")
			if said := ours(f.issues); len(said) != 2 || said[0].body != "<!-- talosgen-drift dev -->\nc" || said[0].title != "Drift of dev" || said[0].state != "open" {
				t.Fatalf("issues: %+v", said)
			}
			say("", "close", "dev")
			if said := ours(f.issues); said[0].state != "closed" || said[1].state != "open" {
				t.Errorf("issues: %+v, %+v", said[0], said[1])
			}
			say("again", "open", "dev")
			if said := ours(f.issues); len(said) != 3 || said[0].state != "closed" || said[2].body != "<!-- talosgen-drift dev -->\nagain" {
				t.Errorf("issues: %+v", said)
			}
		})
	}
}

// TestReportAtOnce: of two runs that find nothing at once, one has the word.
func TestReportAtOnce(t *testing.T) {
	needs(t, "curl", "jq", "bash", "perl")
	t.Parallel()
	for _, ci := range []string{"github", "gitlab"} {
		for _, what := range []string{"comment", "open"} {
			t.Run(ci+" "+what, func(t *testing.T) {
				t.Parallel()
				script, f := reportScript(t, ci), newForge(t)
				file := filepath.Join(t.TempDir(), "said.md")
				if err := os.WriteFile(file, []byte("said"), 0o600); err != nil {
					t.Fatal(err)
				}
				f.meet()
				var runs sync.WaitGroup
				for range 2 {
					runs.Go(func() {
						if out, err := f.report(script, what, "7", file); err != nil {
							t.Errorf("%v\n%s", err, out)
						}
					})
				}
				runs.Wait()
				open := 0
				for _, s := range slices.Concat(ours(f.comments), ours(f.issues)) {
					if s.state == "open" {
						open++
					}
				}
				if open != 1 || !slices.Contains(f.writes, "POST") {
					t.Errorf("%d say it; %v", open, f.writes)
				}
			})
		}
	}
}

// TestReportRefused: a token that may not say it fails the job, and names what is missing.
func TestReportRefused(t *testing.T) {
	needs(t, "curl", "jq", "bash", "perl")
	for ci, want := range map[string]string{"github": "issues: write", "gitlab": "TALOSGEN_REPORT_TOKEN"} {
		script, f := reportScript(t, ci), newForge(t)
		f.refuses = true
		for _, args := range [][]string{{"close", "dev"}, {"open", "dev", script}} {
			out, err := f.report(script, args...)
			if err == nil || !strings.Contains(out, want) || strings.Contains(out, forgeToken) || len(f.writes) > 0 {
				t.Errorf("%s %v: %v\n%s", ci, args, err, out)
			}
		}
	}
}

// TestOneReportScript: the action of this repository says it as the pipelines do.
func TestOneReportScript(t *testing.T) {
	here, err := os.ReadFile(filepath.Join(filepath.Dir(actionFile), "report.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if there, err := os.ReadFile(reportScript(t, "github")); err != nil || string(here) != string(there) {
		t.Errorf("report.sh of the action is another one than that of internal/scaffold/files/github.txtar (%v)", err)
	}
}
