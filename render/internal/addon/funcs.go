package addon

import (
	"errors"
	"maps"
	"slices"
	"text/template"
)

// refused are the functions of templates that give something else somewhere else,
// or at another time whatever the chart does with it, with the reason for people.
// Helm leaves env and expandenv out; here they have their own message too.
var refused = map[string][]string{
	givesTime: {
		"ago", "date", "date_in_zone", "dateInZone", "htmlDate", "htmlDateInZone", "toDate", "mustToDate", "durationRound",
	},
	"which asks the machine that renders, and each would answer something else": {
		"env", "expandenv", "getHostByName",
	},
}

// refusal is the error of a refused function.
type refusal struct{ function, reason string }

// Error names the function and the reason.
func (r *refusal) Error() string { return r.function + ", " + r.reason }

// functions are what templates get besides, or instead of, what Helm gives
// them. report is called with what was refused, for the engine returns errors as
// text alone.
func functions(report func(*refusal)) template.FuncMap {
	result := template.FuncMap{"keys": sortedKeys, "values": sortedValues}
	maps.Copy(result, limited())
	for reason, names := range refused {
		for _, name := range names {
			r := &refusal{name, reason}
			result[name] = func(...any) (string, error) {
				report(r)
				return "", r
			}
		}
	}
	return result
}

// sortedKeys is the function keys; Helm's gives the keys in another order each
// time.
func sortedKeys(dicts ...map[string]any) []string {
	all := []string{}
	for _, d := range dicts {
		all = append(all, slices.Sorted(maps.Keys(d))...)
	}
	return all
}

// sortedValues is the function values, in the order of the keys.
func sortedValues(dict map[string]any) ([]any, error) {
	if dict == nil {
		return nil, errors.New("values of nothing")
	}
	all := make([]any, 0, len(dict))
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		all = append(all, dict[key])
	}
	return all, nil
}
