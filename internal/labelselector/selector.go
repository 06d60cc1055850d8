// Package labelselector reads the label selectors of Hetzner Cloud and matches
// labels against them.
//
// The language is the one of the API: conditions with commas between them, all
// of which must hold. A condition is k=v, k==v, k!=v, k, !k, k in (a,b) or
// k notin (a,b). As the API has it, k!=v and notin hold where the key is
// missing too.
package labelselector

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selector is a parsed label selector. The zero value matches everything.
type Selector struct {
	conditions []condition
}

type condition struct {
	key    string
	not    bool     // the condition holds if the rest does not
	exists bool     // the key is there; values are not looked at
	values []string // the key has one of these, each of which is there once, sorted
}

// Parse reads a selector.
func Parse(text string) (Selector, error) {
	var s Selector
	parts, err := split(text)
	if err != nil {
		return Selector{}, err
	}
	for _, part := range parts {
		c, err := parse(part)
		if err != nil {
			return Selector{}, fmt.Errorf("label selector %q: %w", text, err)
		}
		s.conditions = append(s.conditions, c)
	}
	return s, nil
}

// split cuts a selector at the commas outside of parentheses.
func split(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var parts []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
		if depth < 0 || depth > 1 {
			return nil, fmt.Errorf("label selector %q: parentheses do not match", text)
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("label selector %q: parentheses do not match", text)
	}
	return append(parts, text[start:]), nil
}

func parse(part string) (condition, error) {
	part = strings.TrimSpace(part)
	if body, ok := strings.CutSuffix(part, ")"); ok {
		return parseSet(body)
	}
	for _, op := range []string{"!=", "==", "="} {
		if key, value, ok := strings.Cut(part, op); ok {
			return checked(condition{key: strings.TrimSpace(key), not: op == "!=", values: []string{strings.TrimSpace(value)}})
		}
	}
	key, not := strings.CutPrefix(part, "!")
	return checked(condition{key: strings.TrimSpace(key), not: not, exists: true})
}

// parseSet reads k in (a,b without the last parenthesis.
func parseSet(body string) (condition, error) {
	head, list, _ := strings.Cut(body, "(")
	words := strings.Fields(head)
	if len(words) != 2 || words[1] != "in" && words[1] != "notin" {
		return condition{}, fmt.Errorf("%q is neither in nor notin", strings.TrimSpace(head))
	}
	c := condition{key: words[0], not: words[1] == "notin"}
	for value := range strings.SplitSeq(list, ",") {
		c.values = append(c.values, strings.TrimSpace(value))
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	return checked(c)
}

func checked(c condition) (condition, error) {
	if c.key == "" {
		return c, fmt.Errorf("a condition has no key")
	}
	for _, text := range append([]string{c.key}, c.values...) {
		if i := strings.IndexFunc(text, func(r rune) bool { return !allowed(r) }); i >= 0 {
			return c, fmt.Errorf("%q cannot be in %q", text[i:i+1], text)
		}
	}
	return c, nil
}

func allowed(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./", r)
}

// Matches reports whether labels fulfil every condition.
func (s Selector) Matches(labels map[string]string) bool {
	return !slices.ContainsFunc(s.conditions, func(c condition) bool {
		value, there := labels[c.key]
		holds := there && (c.exists || slices.Contains(c.values, value))
		return holds == c.not
	})
}

// String writes the selector in one form: equal ones are equal texts, whatever
// their spaces and the order of their conditions.
func (s Selector) String() string {
	texts := map[string]bool{}
	for _, c := range s.conditions {
		texts[c.String()] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(texts)), ",")
}

func (c condition) String() string {
	switch {
	case c.exists && c.not:
		return "!" + c.key
	case c.exists:
		return c.key
	case len(c.values) == 1 && c.not:
		return c.key + "!=" + c.values[0]
	case len(c.values) == 1:
		return c.key + "=" + c.values[0]
	}
	if c.not {
		return c.key + " notin (" + strings.Join(c.values, ",") + ")"
	}
	return c.key + " in (" + strings.Join(c.values, ",") + ")"
}
