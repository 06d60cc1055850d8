package timeline

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/rehearsal"
)

var update = flag.Bool("update", false, "write the golden pages")

// told is a report of which every part has something to say.
func told() *rehearsal.Report {
	return &rehearsal.Report{
		Environment: "prod", Cluster: "acme-production", Command: "upgrade", Observed: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Result: rehearsal.Risks,
		Risks: []rehearsal.Risk{{ID: "server/acme-production-worker-2", Text: "it is <not> in the tree"}}, Seconds: 125,
		Steps: []rehearsal.Step{
			{Stage: "nodes", Name: "drain acme-production-worker-2", At: 2, Seconds: 31, Disturbs: []string{"StatefulSet default/db"}},
			{Stage: "nodes", Name: "delete-node acme-production-worker-2", At: 33, Seconds: 0},
			{Stage: "infrastructure", Name: "delete server/acme-production-worker-2", At: 33, Seconds: 4},
			{Stage: "nodes", Name: "reboot <script>\x1b[2J" + strings.Repeat("long", 20), At: 40, Seconds: 85, Failed: true},
		},
		Gaps:   []rehearsal.Gap{{What: "Kubernetes API", At: 20, Seconds: 20}, {What: "quorum of etcd", At: 110, Seconds: 15}},
		Unseen: []string{"what installers do"},
	}
}

func TestPage(t *testing.T) { golden(t, "testdata/page.html", Write(told())) }

// TestRunPage: the page of a run says what was measured, and has its report.
func TestRunPage(t *testing.T) {
	golden(t, "testdata/run.html", WriteRun(Run{
		Title: "upgrade of prod (cluster <acme>\x1b[2J)", Result: rehearsal.Failed, Steps: told(),
		Report: "acme: failed after 125 s\nnext:\n  talosgen upgrade prod\x07\n",
	}))
	if page := string(WriteRun(Run{Title: "apply of dev", Result: rehearsal.Clear, Steps: &rehearsal.Report{}, Report: "dev: nothing to do\n"})); strings.Contains(page, "<svg") || !strings.Contains(page, "\ndev: nothing to do\n") {
		t.Error(page)
	}
}

// golden compares a page with the one that is kept, and sees that it loads nothing.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(name, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the page is another, see git diff after -update:\n%s", got)
	}
	for _, no := range []string{"<script", "http:", "https:", "src=", "url(", "@import", "\x1b", "\x07"} {
		if strings.Contains(string(got), no) {
			t.Errorf("the page has %q", no)
		}
	}
}

// TestNothing: a report without steps has no picture.
func TestNothing(t *testing.T) {
	page := string(Write(&rehearsal.Report{Environment: "dev", Command: "apply", Result: rehearsal.Clear}))
	if strings.Contains(page, "<svg") || !strings.Contains(page, "there is nothing to do") {
		t.Error(page)
	}
}

var place = regexp.MustCompile(`<rect class="(step|takes|fails|gap)" x="([0-9.]+)" y="[0-9]+" width="([0-9.]+)"`)

// TestPictures: whatever a report says, its picture is XML, has each step and gap once, in
// its frame, and a step that begins later stands further right.
func TestPictures(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		r := &rehearsal.Report{Seconds: float64(random.IntN(3) * random.IntN(100000))}
		at := 0.0
		for n := range 1 + random.IntN(30) {
			at += float64(random.IntN(400))
			r.Steps = append(r.Steps, rehearsal.Step{Stage: fmt.Sprint("stage ", random.IntN(3)), Name: fmt.Sprintf("step %d & <%d>", n, n), At: at, Seconds: float64(random.IntN(2000)) / 4})
		}
		for range random.IntN(3) {
			r.Gaps = append(r.Gaps, rehearsal.Gap{What: "quorum of etcd", At: float64(random.IntN(1000)), Seconds: float64(random.IntN(1000))})
		}
		_, picture, _ := strings.Cut(string(Write(r)), "<figure>\n")
		picture, _, _ = strings.Cut(picture, "<figcaption>")
		if err := wellFormed(picture); err != nil {
			t.Fatalf("report %d: %v\n%s", i, err, picture)
		}
		found := place.FindAllStringSubmatch(picture, -1)
		if len(found) != len(r.Steps)+len(r.Gaps) {
			t.Fatalf("report %d: %d places for %d steps and %d gaps", i, len(found), len(r.Steps), len(r.Gaps))
		}
		last := 0.0
		for _, f := range found {
			x, _ := strconv.ParseFloat(f[2], 64)
			w, _ := strconv.ParseFloat(f[3], 64)
			if x < namesWidth || x+w > width || w <= 0 || f[1] != "gap" && x < last {
				t.Fatalf("report %d: a place from %v, %v wide, after %v", i, x, w, last)
			}
			if f[1] != "gap" {
				last = x
			}
		}
		for _, step := range r.Steps {
			if n := strings.Count(picture, ">"+html.EscapeString(step.Name)+"<"); n != 1 {
				t.Fatalf("report %d: %q is there %d times", i, step.Name, n)
			}
		}
	}
}

// wellFormed says what is wrong with a text as XML.
func wellFormed(text string) error {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestMoments: a line of time has at most as many names as can be read, from the beginning
// on, whatever time it takes.
func TestMoments(t *testing.T) {
	for _, seconds := range []float64{1, 7.5, 59, 125, 3600, 86400, 1e6, 1e9} {
		all := moments(seconds)
		if len(all) == 0 || all[0] != 0 || len(all) > mostTicks+1 || all[len(all)-1] > seconds {
			t.Errorf("%v seconds: %v", seconds, all)
		}
	}
}
