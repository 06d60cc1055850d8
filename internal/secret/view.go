package secret

import "strings"

// view is a text as it was before its lines were broken, and where each of its
// bytes is in the text as it is.
type view struct {
	text string
	at   []int // nil: where it is
}

// views are the ways to read a text: as it is, and, if it has lines, with each
// break and the indentation behind it taken out, or made a space.
func views(text string) []view {
	all := []view{{text: text}}
	if strings.Contains(strings.TrimSpace(text), "\n") {
		all = append(all, unbroken(text, ""), unbroken(text, " "))
	}
	return all
}

func unbroken(text, instead string) view {
	var b strings.Builder
	at := make([]int, 0, len(text))
	for i := 0; i < len(text); i++ {
		end := i
		for end < len(text) && strings.IndexByte(" \t\r\n", text[end]) >= 0 {
			end++
		}
		if strings.Contains(text[i:end], "\n") {
			b.WriteString(instead)
			for range len(instead) {
				at = append(at, i)
			}
			i = end - 1
			continue
		}
		for end = max(end, i+1); i < end; i++ {
			b.WriteByte(text[i])
			at = append(at, i)
		}
		i--
	}
	return view{b.String(), at}
}

// place is where a range of the view is in the text.
func (v view) place(from, to int) (int, int) {
	if v.at == nil {
		return from, to
	}
	return v.at[from], v.at[to-1] + 1
}
