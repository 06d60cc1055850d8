package summary

import (
	"fmt"
	"net/netip"
	"strings"
)

// similar makes one of what waits for the same reason, and is told with the same words
// but for addresses: of a network that is down eight nodes say the same.
func similar(all []Pending) (merged []Pending) {
	type words struct{ kind, text, hint string }
	groups, order := map[words][]Pending{}, []words{}
	for _, p := range all {
		key := words{p.Kind, withoutAddresses(p.Text), p.Hint}
		if p.Object == "" {
			key.text = p.Text
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	for _, key := range order {
		group := groups[key]
		p := group[0]
		if len(group) > 1 {
			p.Object, p.Text = together(group), key.text
		}
		merged = append(merged, p)
	}
	return merged
}

// together lists objects: of more than four, the first three.
func together(group []Pending) string {
	var objects []string
	for i, p := range group {
		if i == 3 && len(group) > 4 {
			return strings.Join(objects, ", ") + fmt.Sprintf(" and %d more", len(group)-i)
		}
		objects = append(objects, p.Object)
	}
	return strings.Join(objects, ", ")
}

// withoutAddresses leaves out the words of a text that are addresses and end with a
// colon: what follows is said of them.
func withoutAddresses(text string) string {
	var words []string
	for _, word := range strings.Fields(text) {
		if at, colon := strings.CutSuffix(word, ":"); !colon || !isAddress(at) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func isAddress(text string) bool {
	if _, err := netip.ParseAddrPort(text); err == nil {
		return true
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}
