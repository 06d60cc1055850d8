package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Script is calls, and what to expect of them.
type Script struct {
	Name   string // of its file
	About  string // what it shows
	Writes bool   // it changes something, and may cost money
	steps  []step
}

// step is a call with its expectation, or a wait for an action.
type step struct {
	line    int
	method  string
	path    string
	body    any  // nil for none
	wait    bool // path is the action's variable
	cleanup bool

	status int    // 0 for any
	code   string // of an error
	want   any    // nil for any
	header string // that the answer has; empty for any
}

// Parse reads a script.
func Parse(name, text string) (Script, error) {
	s := Script{Name: name}
	lines := strings.Split(text, "\n")
	i := 0
	for ; i < len(lines) && s.About == "" || lines[i] != "reads" && lines[i] != "writes"; i++ {
		if i == len(lines)-1 {
			return s, fmt.Errorf("%s: neither reads nor writes", name)
		}
		s.About = strings.TrimSpace(s.About + " " + lines[i])
	}
	s.Writes = lines[i] == "writes"
	cleanup := false
	for i++; i < len(lines); {
		at, text := i+1, lines[i]
		for i++; i < len(lines) && strings.HasPrefix(lines[i], " "); i++ {
			text += "\n" + lines[i]
		}
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if text == "cleanup" {
			cleanup = true
			continue
		}
		if err := s.add(text, at, cleanup); err != nil {
			return s, fmt.Errorf("%s:%d: %w", name, at, err)
		}
	}
	return s, nil
}

// add adds what a line says.
func (s *Script) add(text string, line int, cleanup bool) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "GET", "POST", "PUT", "DELETE":
		st := step{line: line, method: word, cleanup: cleanup}
		var body string
		if st.path, body, _ = strings.Cut(rest, " "); body != "" {
			err = json.Unmarshal([]byte(body), &st.body)
		}
		s.steps = append(s.steps, st)
	case "wait":
		s.steps = append(s.steps, step{line: line, wait: true, path: strings.TrimSpace(rest), cleanup: cleanup})
	case "header":
		if len(s.steps) == 0 {
			return fmt.Errorf("an expectation before the first call")
		}
		s.steps[len(s.steps)-1].header = strings.TrimSpace(rest)
	case "=>":
		if len(s.steps) == 0 {
			return fmt.Errorf("an expectation before the first call")
		}
		err = s.steps[len(s.steps)-1].expect(rest)
	default:
		err = fmt.Errorf("%q is no call, wait or expectation", word)
	}
	return err
}

// expect reads "201 {…}" and "409 uniqueness_error".
func (st *step) expect(text string) (err error) {
	status, rest, _ := strings.Cut(text, " ")
	if st.status, err = strconv.Atoi(status); err != nil {
		return fmt.Errorf("%q is no status", status)
	}
	rest = strings.TrimSpace(rest)
	if rest == "" || strings.HasPrefix(rest, "{") {
		if rest != "" {
			err = json.Unmarshal([]byte(rest), &st.want)
		}
		return err
	}
	st.code, rest, _ = strings.Cut(rest, " ")
	if rest != "" {
		st.want = map[string]any{"error": map[string]any{"message": rest}}
	}
	return nil
}
