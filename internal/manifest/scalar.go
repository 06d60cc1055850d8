package manifest

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// words are the plain scalars of YAML 1.1 that are no text. Kubernetes reads
// manifests as YAML 1.1, so that an unquoted yes or on is a boolean in a
// cluster, whatever newer versions of YAML say.
var words = map[string]any{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true,
	"true": true, "True": true, "TRUE": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false,
	"false": false, "False": false, "FALSE": false, "off": false, "Off": false, "OFF": false,
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
}

var (
	float     = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	notFinite = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)

	errNotFinite = errors.New("infinity and NaN are no values for Kubernetes")
)

// resolve gives the value of a plain scalar, as Kubernetes reads it: dates are
// texts, 0644 is octal, underscores in numbers do not count.
func resolve(text string) (any, error) {
	if value, found := words[text]; found {
		return value, nil
	}
	switch c := text[0]; {
	case notFinite.MatchString(text):
		return nil, errNotFinite
	case c == '.':
		return parseFloat(text, text)
	case c == '+' || c == '-' || c >= '0' && c <= '9':
		return resolveNumber(text)
	}
	return text, nil
}

func resolveNumber(text string) (any, error) {
	digits := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return number(float64(u))
	}
	if float.MatchString(digits) {
		return parseFloat(digits, text)
	}
	if i, ok := signedBinary(digits); ok {
		return i, nil
	}
	return text, nil
}

// signedBinary gives the value of a binary number with a sign behind its prefix,
// which the library that Kubernetes reads YAML with takes for a number.
func signedBinary(digits string) (int64, bool) {
	rest, negative := strings.CutPrefix(digits, "-0b")
	if !negative {
		var binary bool
		if rest, binary = strings.CutPrefix(digits, "0b"); !binary {
			return 0, false
		}
	} else {
		rest = "-" + rest
	}
	i, err := strconv.ParseInt(rest, 2, 64)
	return i, err == nil
}

// parseFloat gives the number with these digits, or text if it is too large for
// one.
func parseFloat(digits, text string) (any, error) {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return text, nil
	}
	return number(f)
}

// number makes a float what JSON makes of it on its way to the API server: an
// integer where it is one.
func number(f float64) (any, error) {
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return nil, errNotFinite
	case f == math.Trunc(f):
		// The digits that JSON writes, not the exact value of the float.
		if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
			return i, nil
		}
	}
	return f, nil
}
