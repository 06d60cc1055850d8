package archtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// frictions is how many the list of a new user has, openFrictions how many of them
// have no test: the number only falls.
const (
	frictions     = 38
	openFrictions = 1
)

// TestFrictions: each friction that a new user met names the test that closes it,
// which exists, or is said to be open.
func TestFrictions(t *testing.T) {
	table, err := os.ReadFile("testdata/frictions.txt")
	if err != nil {
		t.Fatal(err)
	}
	n, open := 0, 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		n++
		cells := strings.SplitN(strings.TrimSuffix(line, "\n"), " | ", 4)
		if len(cells) != 4 || cells[0] != strconv.Itoa(n) {
			t.Errorf("line %d is not: number | friction | file | text in it: %q", n, line)
			continue
		}
		if cells[2] == "open" {
			open++
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", cells[2]))
		if err != nil || !strings.Contains(string(text), cells[3]) {
			t.Errorf("friction %d, %s: %q is not in %s (%v)", n, cells[1], cells[3], cells[2], err)
		}
	}
	if n != frictions || open != openFrictions {
		t.Errorf("%d frictions, %d of them open, not %d and %d", n, open, frictions, openFrictions)
	}
}
