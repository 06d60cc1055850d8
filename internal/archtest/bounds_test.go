package archtest

import (
	"fmt"
	"testing"
)

// mostMethods is how many methods a type may have. One with more is several.
const mostMethods = 30

// mostExported is how many names a façade may export.
var mostExported = map[string]int{"render": 30, "apply": 40}

// mostBack is how many arrows may run back between the files of a package.
var mostBack = map[string]int{"render": 10, "apply": 3}

// checkBounds holds what was reached.
func checkBounds(measured []measure, back map[string]turns) (violations []string) {
	fail := func(dir, format string, args ...any) {
		violations = append(violations, dir+": "+fmt.Sprintf(format, args...))
	}
	for _, m := range measured {
		// What simulators have of others' APIs is as many calls as these have.
		if m.methods > mostMethods && !within(m.dir, "internal/sim/...") {
			fail(m.dir, "%s has %d methods, more than %d", m.receiver, m.methods, mostMethods)
		}
		if most, bound := mostExported[m.dir]; bound && m.exported > most {
			fail(m.dir, "%d names are exported, more than %d", m.exported, most)
		}
		if most, bound := mostBack[m.dir]; bound && len(back[m.dir].back) > most {
			fail(m.dir, "%d arrows run back between its files, more than %d", len(back[m.dir].back), most)
		}
	}
	return violations
}

func TestBoundRules(t *testing.T) {
	measured := []measure{
		{dir: "a", receiver: "A", methods: 31},
		{dir: "internal/sim/b", receiver: "B", methods: 99},
		{dir: "render", exported: 31},
	}
	expect(t, checkBounds(measured, map[string]turns{"render": {all: 99, back: make([][2]string, mostBack["render"]+1)}}),
		"a: A has 31 methods, more than 30",
		"render: 31 names are exported, more than 30",
		"render: ")
}
