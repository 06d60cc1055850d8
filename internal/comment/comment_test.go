package comment

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDocument(t *testing.T) {
	d := Document{
		Title: "talosgen plan",
		Head:  []string{"environment", "result", "blocked by"},
		Rows:  [][]string{{"dev", "differs", ""}, {"prod", "failed (exit code 5)", "cc @team: a|b <img> `x` https://example.com\n::error::x"}, {"lab", "differs", "see www.example.com"}},
		Sections: []Section{
			{Name: "dev", Title: "Plan: 1 to add", Text: "+ server/a\n    type  cpx22\n"},
			{Name: "prod", Title: "it failed", Text: "~~~\n</details>\n~~~~ @team", Open: true},
		},
	}
	const want = `### talosgen plan

| environment | result | blocked by |
|---|---|---|
| dev | differs |  |
| prod | failed (exit code 5) | <code>cc &#64;team&#58; a&#124;b &lt;img&gt; &#96;x&#96; https&#58;//example.com &#58;&#58;error&#58;&#58;x</code> |
| lab | differs | <code>see www&#46;example.com</code> |

<details><summary><b>dev</b>: Plan: 1 to add</summary>

~~~diff
+ server/a
    type  cpx22
~~~

</details>

<details open><summary><b>prod</b>: it failed</summary>

~~~~~diff
~~~
</details>
~~~~ @team
~~~~~

</details>
`
	if got := d.Write(Limit); got != want {
		t.Errorf("it is\n%s", got)
	}
}

// TestCut: a long text is cut at the end of a line, and says how much is missing.
func TestCut(t *testing.T) {
	text := strings.Repeat("+ server/a-name\n", 1000)
	got := Document{Sections: []Section{{Name: "dev", Title: "Plan", Text: text}, {Name: "prod", Title: "Plan", Text: "- one\n"}}}.Write(2000)
	if len(got) > 2000 || !strings.Contains(got, "+ server/a-name\n… (9") || !strings.Contains(got, "\n- one\n~~~\n") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}

// TestShortLeavesRoom: what the first sections do not need, the last one has.
func TestShortLeavesRoom(t *testing.T) {
	d := Document{Sections: []Section{{Text: "a"}, {Text: "b"}, {Text: strings.Repeat("c\n", 400)}}}
	if got := d.Write(1400); strings.Contains(got, "more lines") {
		t.Errorf("it was cut:\n%s", got)
	}
}

// TestBound: whatever a document says, it is within its limit, its fences and folds are
// closed, and no row has more cells than the head.
func TestBound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"dev", "~~~", "~~~~~~~~", "\n", "|", "</details>", "<b>", "äöü", "@all", strings.Repeat("x", 300), "`", "a line\n", "\n\n", "https://example.com", strings.Repeat("long line ", 50) + "\n"}
	text := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(words[random.IntN(len(words))])
		}
		return b.String()
	}
	for i := range 2000 {
		d := Document{Title: text(5), Head: []string{"a", "b"}}
		for range random.IntN(60) {
			d.Rows = append(d.Rows, []string{text(4), text(6)})
		}
		for range random.IntN(60) {
			d.Sections = append(d.Sections, Section{Name: text(3), Title: text(6), Text: text(200)})
		}
		limit := 4000 + random.IntN(Limit)
		got := d.Write(limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("case %d: %d bytes of %d", i, len(got), limit)
		}
		if err := wellFormed(got); err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, got)
		}
	}
}

// ours are the tags that a line of a fold may have.
var ours = strings.NewReplacer("<details>", "", "<details open>", "", "<summary>", "", "</summary>", "", "<b>", "", "</b>", "", "<code>", "", "</code>", "")

// wellFormed reads a document as a forge does, as far as it matters.
func wellFormed(text string) error {
	fence, folds := "", 0
	for n, line := range strings.Split(text, "\n") {
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
		case strings.HasPrefix(line, "~~~"):
			fence = strings.TrimSuffix(line, "diff")
		case strings.HasPrefix(line, "<details"):
			folds++
			if strings.Contains(ours.Replace(line), "<") {
				return fmt.Errorf("line %d: %s", n, line)
			}
		case line == "</details>":
			folds--
		case strings.HasPrefix(line, "| ") && strings.Count(line, "|") != 3:
			return fmt.Errorf("line %d: %s", n, line)
		case strings.Contains(line, "@"):
			return fmt.Errorf("line %d mentions: %s", n, line)
		}
	}
	if fence != "" || folds != 0 {
		return fmt.Errorf("open: %q, %d", fence, folds)
	}
	return nil
}
