package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// Note is a sentence about an object, with what to do about it: a refusal, a
// warning, or what is left as it is.
type Note struct {
	Key  Key    `json:"key,omitempty"` // empty if it is about the whole
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// Problem is the note as an error for people.
func (n Note) Problem() *diag.Problem {
	return diag.On(string(n.Key), "%s", n.Text).WithHint("%s", n.Hint)
}

// Merged makes one of the notes that have the same words, with all their keys.
func Merged(notes []Note) (merged []Note) {
	for i, n := range notes {
		same := func(o Note) bool { return o.Text == n.Text && o.Hint == n.Hint }
		if slices.ContainsFunc(notes[:i], same) {
			continue
		}
		var keys []Key
		for _, o := range notes {
			if same(o) && o.Key != "" {
				keys = append(keys, o.Key)
			}
		}
		merged = append(merged, Note{Key: Key(Join(keys)), Text: n.Text, Hint: n.Hint})
	}
	return merged
}

// Join lists keys in words: of more than four, the first three.
func Join(keys []Key) string {
	texts := make([]string, 0, len(keys))
	for i, k := range keys {
		if i == 3 && len(keys) > 4 {
			return strings.Join(texts, ", ") + fmt.Sprintf(" and %d more", len(keys)-i)
		}
		texts = append(texts, string(k))
	}
	return strings.Join(texts, ", ")
}
