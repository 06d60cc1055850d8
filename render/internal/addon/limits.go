package addon

import (
	"fmt"
	"math"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// maxNumbers are how many numbers a template may ask for at once, and maxIndent
// how far it may indent.
const (
	maxNumbers = 100_000
	maxIndent  = 1000
)

// limited are the functions of templates that make much of little. They are what
// Helm has, but they refuse to make more than any chart needs.
func limited() template.FuncMap {
	helm := sprig.TxtFuncMap()
	until := helm["until"].(func(int) []int)
	untilStep := helm["untilStep"].(func(int, int, int) []int)
	seq := helm["seq"].(func(...int) string)
	repeat := helm["repeat"].(func(int, string) string)
	indent := helm["indent"].(func(int, string) string)
	nindent := helm["nindent"].(func(int, string) string)
	return template.FuncMap{
		"until": func(count int) ([]int, error) {
			return run(numbers(0, count, 1), func() []int { return until(count) })
		},
		"untilStep": func(start, stop, step int) ([]int, error) {
			return run(numbers(start, stop, step), func() []int { return untilStep(start, stop, step) })
		},
		"seq": func(params ...int) (string, error) {
			start, step, stop := 1, 1, 0
			switch len(params) {
			case 1:
				stop = params[0]
			case 2:
				start, stop = params[0], params[1]
			case 3:
				start, step, stop = params[0], params[1], params[2]
			}
			return run(numbers(start, stop, step), func() string { return seq(params...) })
		},
		"repeat": func(count int, text string) (string, error) {
			return run(size(count, len(text)), func() string { return repeat(count, text) })
		},
		"indent": func(by int, text string) (string, error) {
			return run(column(by), func() string { return indent(by, text) })
		},
		"nindent": func(by int, text string) (string, error) {
			return run(column(by), func() string { return nindent(by, text) })
		},
	}
}

// run calls a function unless there is something against it.
func run[T any](problem error, function func() T) (result T, err error) {
	if problem != nil {
		return result, problem
	}
	return function(), nil
}

// numbers refuses to count too far.
func numbers(start, stop, step int) error {
	count := math.Abs(float64(stop)-float64(start)) / max(math.Abs(float64(step)), 1)
	if count > maxNumbers {
		return fmt.Errorf("asks for %.0f numbers; at most %d are made", count, maxNumbers)
	}
	return nil
}

// size refuses long texts.
func size(count, length int) error {
	if float64(count)*float64(length) > maxRendered {
		return fmt.Errorf("asks for a text of more than %d MiB", maxRendered>>20)
	}
	return nil
}

// column refuses wide indentation, which is there for every line.
func column(by int) error {
	if by > maxIndent {
		return fmt.Errorf("indents by %d; at most %d is done", by, maxIndent)
	}
	if by < 0 {
		return fmt.Errorf("indents by %d", by)
	}
	return nil
}
