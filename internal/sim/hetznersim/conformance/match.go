package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// values are what the variables of a run hold.
type values map[string]any

// match compares an answer with what is expected, and takes values from it. It
// returns what differs, or nothing.
func (v values) match(want, got any, at string) (problems []string) {
	differs := func() []string { return []string{fmt.Sprintf("%s is %v, not %v", at, got, want)} }
	switch want := want.(type) {
	case map[string]any:
		have, is := got.(map[string]any)
		if !is {
			return differs()
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			value, found := have[key]
			if !found {
				problems = append(problems, at+"."+key+" is absent")
				continue
			}
			problems = append(problems, v.match(want[key], value, at+"."+key)...)
		}
		return problems
	case []any:
		have, is := got.([]any)
		more := len(want) > 0 && want[len(want)-1] == "..."
		if more {
			want = want[:len(want)-1]
		}
		if !is || len(have) < len(want) || len(have) > len(want) && !more {
			return differs()
		}
		for i := range want {
			problems = append(problems, v.match(want[i], have[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return problems
	case string:
		return v.matchText(want, got, differs)
	}
	if want != got {
		return differs()
	}
	return nil
}

func (v values) matchText(want string, got any, differs func() []string) []string {
	name, isVariable := strings.CutPrefix(want, "$")
	if want == "*" {
		return nil
	}
	if isVariable && !strings.Contains(name, "-") {
		if held, taken := v[name]; !taken {
			v[name] = got
		} else if held != got {
			return differs()
		}
		return nil
	}
	if filled, err := v.fill(want); err != nil || filled != got {
		return differs()
	}
	return nil
}

var variable = regexp.MustCompile(`\$[a-z0-9]+`)

// fill puts the values of variables in a part of a request. A text that is one
// variable becomes its value, whatever its type.
func (v values) fill(node any) (any, error) {
	switch node := node.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range node {
			filled, err := v.fill(value)
			if err != nil {
				return nil, err
			}
			out[key] = filled
		}
		return out, nil
	case []any:
		out := []any{}
		for _, value := range node {
			filled, err := v.fill(value)
			if err != nil {
				return nil, err
			}
			out = append(out, filled)
		}
		return out, nil
	case string:
		if held, taken := v[strings.TrimPrefix(node, "$")]; taken && strings.HasPrefix(node, "$") {
			return held, nil
		}
		return v.fillText(node)
	}
	return node, nil
}

// fillText puts the values of variables in a text.
func (v values) fillText(text string) (string, error) {
	var missing string
	out := variable.ReplaceAllStringFunc(text, func(name string) string {
		value, taken := v[name[1:]]
		if !taken {
			missing = name
		}
		if n, isNumber := value.(float64); isNumber {
			return fmt.Sprintf("%.0f", n)
		}
		return fmt.Sprint(value)
	})
	if missing != "" {
		return "", fmt.Errorf("%s was never taken", missing)
	}
	return out, nil
}
