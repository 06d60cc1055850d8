package diag

import (
	"fmt"
	"strings"
)

// Suggest returns `did you mean "x"?` for the candidate nearest to word, or ""
// if none is near enough to be meant.
func Suggest(word string, candidates []string) string {
	if best := Nearest(word, candidates); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// Nearest returns the candidate nearest to word, or "" if none is near enough to
// be meant.
func Nearest(word string, candidates []string) string {
	return NearestWithin(word, candidates, len(word)/3+1)
}

// NearestWithin returns the candidate nearest to word, or "" if it takes more
// than that many letters that are changed, added or left out to come to any.
func NearestWithin(word string, candidates []string, letters int) string {
	best, bestDistance := "", letters
	for _, c := range candidates {
		if c == word {
			continue
		}
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bestDistance || (d == bestDistance && best == "") {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
