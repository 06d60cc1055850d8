package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// frictions is how many the list of a new user has, openFrictions how many of them
// have no test: the number only falls.
const (
	frictions     = 38
	openFrictions = 0
)

// idsOfFrictions are those that a list must have, in their order: B1 and B7 are not bugs.
func idsOfFrictions() (ids []string) {
	for n := range frictions {
		ids = append(ids, strconv.Itoa(n+1))
	}
	for n := 2; n <= 28; n++ {
		if n != 7 {
			ids = append(ids, "B"+strconv.Itoa(n))
		}
	}
	return ids
}

// TestFrictions: each friction that a new user met names the test that closes it,
// which exists, or is said to be open.
func TestFrictions(t *testing.T) {
	table, err := os.ReadFile("testdata/frictions.txt")
	if err != nil {
		t.Fatal(err)
	}
	ids, open := []string{}, 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.SplitN(strings.TrimSuffix(line, "\n"), " | ", 4)
		if len(cells) != 4 {
			t.Errorf("not: number | friction | file | text in it: %q", line)
			continue
		}
		ids = append(ids, cells[0])
		if cells[2] == "open" {
			open++
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", cells[2]))
		if err != nil || !strings.Contains(string(text), cells[3]) {
			t.Errorf("friction %s, %s: %q is not in %s (%v)", cells[0], cells[1], cells[3], cells[2], err)
		}
	}
	if !slices.Equal(ids, idsOfFrictions()) || open != openFrictions {
		t.Errorf("%d of the frictions %v are open, not %d of %v", open, ids, openFrictions, idsOfFrictions())
	}
}
