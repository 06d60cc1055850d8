//go:build linux

package acceptance

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/rehearsal"
	picture "github.com/talosgen/talosgen/apply/rehearsal/timeline"
)

// rehearse rehearses a command, which writes nothing anywhere.
func (u *user) rehearse(by *audit, args ...string) *rehearsal.Report {
	u.t.Helper()
	began := time.Now()
	by.begin()
	output, _ := u.talosgen(append([]string{"rehearse", "lab", "-o", "json"}, args...)...) // its exit code is of risks
	by.end()
	u.t.Logf("it took %.1f s with its audit", time.Since(began).Seconds())
	report := &rehearsal.Report{}
	i := strings.Index(output, "{\n")
	if i < 0 || json.NewDecoder(strings.NewReader(output[i:])).Decode(report) != nil {
		u.t.Fatal("it does not print a report")
	}
	if len(report.Problems) > 0 || len(report.Steps) == 0 {
		u.t.Errorf("it comes to the result %s in %d steps, for %q", report.Result, len(report.Steps), report.Problems)
	}
	return report
}

// asRehearsed runs a command, which does what was rehearsed, step by step.
func (u *user) asRehearsed(report *rehearsal.Report, args ...string) (happened []string) {
	u.t.Helper()
	page := filepath.Join(u.t.TempDir(), "run.html")
	u.must(append(args, "--timeline", page)...)
	text, err := os.ReadFile(page)
	if err != nil {
		u.t.Fatal(err)
	}
	rehearsed, happened := drawn(picture.Write(report)), drawn(text)
	if len(rehearsed) != len(report.Steps) {
		u.t.Fatalf("of %d steps the picture has %q", len(report.Steps), rehearsed)
	}
	inSet(rehearsed)
	inSet(happened)
	if !slices.Equal(rehearsed, happened) {
		u.t.Errorf("rehearsed: %s\nhappened:  %s", strings.Join(rehearsed, ", "), strings.Join(happened, ", "))
	}
	u.t.Logf("as rehearsed: %s", strings.Join(happened, ", "))
	return happened
}

// inSet sorts those of the steps that follow one another and do the same to several
// nodes: they may go on at once, and then a race decides which begins first.
func inSet(steps []string) {
	what := func(step string) string { return step[:strings.LastIndex(step, " ")] }
	for at, n := 0, 0; at < len(steps); at += n {
		for n = 1; at+n < len(steps) && what(steps[at+n]) == what(steps[at]); n++ {
		}
		slices.Sort(steps[at : at+n])
	}
}

// Titles of stages, and names of steps, in the picture of a run.
var inPicture = regexp.MustCompile(`<text (class="stage" x="0"|x="8") y="\d+">([^<]*)</text>`)

// drawn are the steps in the picture of a page, each with its stage.
func drawn(page []byte) (steps []string) {
	stage := ""
	for _, m := range inPicture.FindAllSubmatch(page, -1) {
		text := html.UnescapeString(string(m[2]))
		if strings.HasPrefix(string(m[1]), "class") {
			stage = text
			continue
		}
		steps = append(steps, fmt.Sprintf("%s: %s", stage, text))
	}
	return steps
}
