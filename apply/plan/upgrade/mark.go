package upgrade

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the mark as it is written at a node: installing 1.14.1 376567988ad3
// boot=1f2e… try=1 run=….
func (m Mark) String() string {
	schematic := m.Schematic
	if schematic == "" {
		schematic = none
	}
	return fmt.Sprintf("%s %s %s boot=%s try=%d run=%s", m.Phase, m.Version, schematic, m.Boot, m.Try, m.Run)
}

// none stands for a schematic that an image does not have.
const none = "-"

// ParseMark reads what String has written. A text that it does not understand is an
// error: a node with such a mark is not one without.
func ParseMark(text string) (*Mark, error) {
	parts := strings.SplitN(text, " ", 6)
	if len(parts) != 6 {
		return nil, fmt.Errorf("the mark %q of an upgrade cannot be read", text)
	}
	boot, hasBoot := strings.CutPrefix(parts[3], "boot=")
	tries, hasTry := strings.CutPrefix(parts[4], "try=")
	run, hasRun := strings.CutPrefix(parts[5], "run=")
	try, err := strconv.Atoi(tries)
	m := &Mark{Phase: MarkPhase(parts[0]), Version: parts[1], Schematic: parts[2], Boot: boot, Try: try, Run: run}
	if m.Schematic == none {
		m.Schematic = ""
	}
	known := m.Phase == Installing || m.Phase == Installed || m.Phase == Failed || m.Phase == Returning || m.Phase == Deleting
	if !written(m.Version, m.Schematic) || !known || !hasBoot || !hasTry || !hasRun || err != nil {
		return nil, fmt.Errorf("the mark %q of an upgrade cannot be read", text)
	}
	return m, nil
}
