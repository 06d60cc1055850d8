package archtest

import (
	"fmt"
	"testing"
)

// mostMethods is how many methods a type may have. One with more is several.
const mostMethods = 30

// larger are the packages with a larger type, and how many methods that may have.
// The numbers only fall; a package that came below the bound leaves.
var larger = map[string]int{
	"render/internal/yamledit": 50,
}

// mostExported is how many names a façade may export. That of apply is to have 40.
var mostExported = map[string]int{"render": 30, "apply": 90}

// mostBack is how many arrows may run back between the files of a package. Ten is
// what they are to have.
var mostBack = map[string]int{"render": 10, "apply": 61}

// checkBounds holds what was reached.
func checkBounds(measured []measure, back map[string]turns) (violations []string) {
	fail := func(dir, format string, args ...any) {
		violations = append(violations, dir+": "+fmt.Sprintf(format, args...))
	}
	for _, m := range measured {
		most, listed := larger[m.dir]
		switch {
		case within(m.dir, "internal/sim/..."): // the API of others has as many calls as it has
		case !listed && m.methods > mostMethods:
			fail(m.dir, "%s has %d methods, more than %d", m.receiver, m.methods, mostMethods)
		case listed && m.methods > most:
			fail(m.dir, "%s has %d methods; the largest type had %d, and the number only falls", m.receiver, m.methods, most)
		case listed && m.methods < most:
			fail(m.dir, "the largest type has %d methods; write that in place of %d", m.methods, most)
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
		{dir: "render", exported: 31, methods: larger["render"]},
	}
	expect(t, checkBounds(measured, map[string]turns{"render": {all: 99, back: make([][2]string, mostBack["render"]+1)}}),
		"a: A has 31 methods, more than 30",
		"render: 31 names are exported, more than 30",
		"render: ")
}
