package addon

import (
	"encoding/base64"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// jitter answers the functions of templates that give something else each time:
// always the same, and for some calls something else, which shows whether anything
// depends on them.
//
// Charts ask for the time to check durations and write nothing of it, and make a
// password before they look whether the values have one.
type jitter struct {
	other  func(call int) bool // whether to answer a call otherwise; calls begin at 1
	refuse int                 // the call that is an error; 0: none
	report func(*refusal)
	calls  int
}

// The reasons why functions are refused if anything depends on them.
const (
	givesTime        = "which asks for the time, so that each render would give something else"
	givesRandom      = "which makes random values, so that each render would give something else"
	givesCertificate = "which makes a new key or certificate in each render"
)

// certificate has the fields of Helm's.
type certificate struct{ Cert, Key string }

// answers are the two answers of each function.
func answers() map[string]map[string]func(other bool, args []any) (any, error) {
	letters := func(first, second string) func(bool, []any) (any, error) {
		return func(other bool, args []any) (any, error) {
			n, err := length(args)
			if err != nil {
				return nil, err
			}
			return strings.Repeat(pick(other, first, second), n), nil
		}
	}
	text := func(first, second string) func(bool, []any) (any, error) {
		return func(other bool, _ []any) (any, error) { return pick(other, first, second), nil }
	}
	pair := func(other bool, _ []any) (any, error) {
		return pick(other, certificate{"certificate 1", "key 1"}, certificate{"certificate 2", "key 2"}), nil
	}
	return map[string]map[string]func(bool, []any) (any, error){
		givesTime: {"now": func(other bool, _ []any) (any, error) { return pick(other, instants[0], instants[1]), nil }},
		givesRandom: {
			"randAlpha": letters("a", "b"), "randAlphaNum": letters("a", "b"), "randAscii": letters("a", "b"), "randNumeric": letters("1", "2"),
			"randBytes": func(other bool, args []any) (any, error) {
				n, err := length(args)
				if err != nil {
					return nil, err
				}
				return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(pick(other, "a", "b"), n))), nil
			},
			"randInt": text("1", "2"), "shuffle": text("a", "b"), "bcrypt": text("a", "b"), "htpasswd": text("a", "b"), "encryptAES": text("a", "b"),
			"uuidv4": text("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"),
		},
		givesCertificate: {
			"genCA": pair, "genCAWithKey": pair, "genSelfSignedCert": pair, "genSelfSignedCertWithKey": pair, "genSignedCert": pair, "genSignedCertWithKey": pair,
			"genPrivateKey": text("key 1", "key 2"),
		},
	}
}

// instants are what the time is.
var instants = []time.Time{time.Unix(1e9, 0).UTC(), time.Unix(2e9, 1).UTC()}

func (j *jitter) functions() template.FuncMap {
	all := template.FuncMap{}
	for reason, functions := range answers() {
		for name, answer := range functions {
			all[name] = func(args ...any) (any, error) {
				j.calls++
				if j.calls == j.refuse {
					r := &refusal{name, reason}
					j.report(r)
					return nil, r
				}
				return answer(j.other != nil && j.other(j.calls), args)
			}
		}
	}
	all["randInt"] = j.number(all["randInt"].(func(...any) (any, error)))
	return all
}

// number makes a function give a number of a range.
func (j *jitter) number(ask func(...any) (any, error)) func(low, high int) (any, error) {
	return func(low, high int) (any, error) {
		answer, err := ask()
		if err != nil {
			return nil, err
		}
		return pick(answer == "2", low, max(low, high-1)), nil
	}
}

func pick[T any](other bool, first, second T) T {
	if other {
		return second
	}
	return first
}

// length is how long a text is to be.
func length(args []any) (int, error) {
	if len(args) != 1 {
		return 0, fmt.Errorf("wants one number, and got %d", len(args))
	}
	var n int
	switch v := args[0].(type) {
	case int:
		n = v
	case int64:
		n = int(v)
	default:
		return 0, fmt.Errorf("wants a number, and got %v", v)
	}
	return max(n, 0), size(n, 1)
}
