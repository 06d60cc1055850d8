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
)

// rehearsal is what of a report is compared with a run.
type rehearsal struct {
	Result   string   `json:"result"`
	Problems []string `json:"problems"`
	Steps    []struct {
		Stage string `json:"stage"`
		Name  string `json:"name"`
	} `json:"steps"`
}

// rehearse rehearses a command, which writes nothing anywhere, and returns the steps in
// their order, each with its stage.
func (u *user) rehearse(by *audit, args ...string) (steps []string) {
	u.t.Helper()
	began := time.Now()
	by.begin()
	output, _ := u.talosgen(append([]string{"rehearse", "lab", "-o", "json"}, args...)...) // its exit code is of risks
	by.end()
	u.t.Logf("it took %.1f s with its audit", time.Since(began).Seconds())
	var report rehearsal
	i := strings.Index(output, "{\n")
	if i < 0 || json.NewDecoder(strings.NewReader(output[i:])).Decode(&report) != nil {
		u.t.Fatal("it does not print a report")
	}
	for _, s := range report.Steps {
		steps = append(steps, s.Stage+": "+s.Name)
	}
	if len(report.Problems) > 0 || len(steps) == 0 {
		u.t.Errorf("it comes to the result %s with the steps %q, for %q", report.Result, steps, report.Problems)
	}
	return steps
}

// asRehearsed runs a command, which does what was rehearsed, step by step.
func (u *user) asRehearsed(rehearsed []string, args ...string) (happened []string) {
	u.t.Helper()
	page := filepath.Join(u.t.TempDir(), "run.html")
	u.must(append(args, "--timeline", page)...)
	text, err := os.ReadFile(page)
	if err != nil {
		u.t.Fatal(err)
	}
	happened = drawn(text)
	rehearsed = slices.Clone(rehearsed)
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
