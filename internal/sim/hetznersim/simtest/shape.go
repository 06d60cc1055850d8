package simtest

import (
	"fmt"
	"strings"
)

// shape is the type of a JSON value, in short.
type shape struct {
	kind   string // string, int, num, bool, time, map, any, enum, object, list, or the name of a shape
	null   bool
	of     *shape   // of a list
	texts  []string // of an enum
	fields []field  // of an object
}

type field struct {
	name     string
	shape    *shape
	absent   bool // an answer may lack it
	required bool // a request must have it
	newer    bool // than the description
}

// operation is a request and its answer.
type operation struct {
	method, path string
	in, out      *shape // nil for nothing
	status       int
	newer        bool
}

// parser reads the text of shapes.
type parser struct {
	text string
}

// shapes are the shapes of a text, by their names, and its operations.
type shapes struct {
	named      map[string]*shape
	operations []operation
}

func parseShapes(text string) (*shapes, error) {
	all := &shapes{named: map[string]*shape{}}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if err := all.parseLine(line); err != nil {
			return nil, fmt.Errorf("shapes.txt:%d: %w", i+1, err)
		}
	}
	return all, nil
}

func (all *shapes) parseLine(line string) (err error) {
	if name, text, found := strings.Cut(line, " = "); found {
		p := &parser{text}
		all.named[name], err = p.shape()
		return p.end(err)
	}
	o := operation{}
	line, o.newer = strings.CutPrefix(line, "+")
	var rest string
	o.method, rest, _ = strings.Cut(line, " ")
	o.path, rest, _ = strings.Cut(rest, " ")
	p := &parser{rest}
	if rest[0] < '0' || rest[0] > '9' {
		if o.in, err = p.shape(); err != nil {
			return err
		}
	}
	if _, err = fmt.Sscanf(p.word(), "%d", &o.status); err != nil {
		return err
	}
	if p.skip(); p.text != "" {
		o.out, err = p.shape()
	}
	all.operations = append(all.operations, o)
	return p.end(err)
}

// end wants nothing to be left.
func (p *parser) end(err error) error {
	if p.skip(); err == nil && p.text != "" {
		err = fmt.Errorf("what is %q?", p.text)
	}
	return err
}

func (p *parser) skip() { p.text = strings.TrimLeft(p.text, " ") }

// word reads to the next space or bracket.
func (p *parser) word() string {
	p.skip()
	n := strings.IndexAny(p.text, " {}[]")
	if n < 0 {
		n = len(p.text)
	}
	word := p.text[:n]
	p.text = p.text[n:]
	return word
}

// take reads a text if it is there.
func (p *parser) take(text string) bool {
	rest, found := strings.CutPrefix(p.text, text)
	p.text = rest
	return found
}

func (p *parser) shape() (*shape, error) {
	p.skip()
	s := &shape{}
	var err error
	switch {
	case p.take("{"):
		s.kind = "object"
		s.fields, err = p.fields()
	case p.take("["):
		s.kind = "list"
		if s.of, err = p.shape(); err == nil && !p.take("]") {
			err = fmt.Errorf("a list does not end before %q", p.text)
		}
	default:
		word := p.word()
		word, s.null = strings.CutSuffix(word, "?")
		if s.kind = word; strings.Contains(word, "|") {
			s.kind, s.texts = "enum", strings.Split(word, "|")
		}
		return s, nil
	}
	s.null = p.take("?")
	return s, err
}

func (p *parser) fields() (all []field, err error) {
	for {
		if p.skip(); p.take("}") {
			return all, nil
		}
		if p.text == "" {
			return nil, fmt.Errorf("an object does not end")
		}
		f := field{newer: p.take("+")}
		n := strings.IndexAny(p.text, ": }")
		if n <= 0 {
			return nil, fmt.Errorf("no field at %q", p.text)
		}
		f.name, p.text = p.text[:n], p.text[n:]
		f.name, f.absent = strings.CutSuffix(f.name, "~")
		f.name, f.required = strings.CutSuffix(f.name, "!")
		f.shape = &shape{kind: "string"}
		if p.take(":") {
			if f.shape, err = p.shape(); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
}
