package hetznersim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func zoneFileRoutes() []route {
	const one = "/zones/{id_or_name}"
	return []route{
		{http.MethodGet, one + "/zonefile", onZone(exportZone)},
		{http.MethodPost, one + "/actions/import_zonefile", onZone(importZone)},
	}
}

// exportZone writes the records of a zone as a file in the format of RFC 1035.
func exportZone(c *call, z *zone) (reply, error) {
	if z.Mode != "primary" {
		return reply{}, wrongMode(z)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "$ORIGIN\t%s.\n$TTL\t%d\n", z.Name, z.TTL)
	for _, r := range c.st.rrsets.rows {
		if r.Zone != z.ID {
			continue
		}
		b.WriteByte('\n')
		for _, one := range r.Records {
			ttl, comment := "", ""
			if r.TTL != nil {
				ttl = strconv.Itoa(*r.TTL) + "\t"
			}
			if one.Comment != "" {
				comment = " ; " + one.Comment
			}
			fmt.Fprintf(&b, "%s\tIN\t%s%s\t%s%s\n", r.Name, ttl, r.Type, one.Value, comment)
		}
	}
	return ok(obj{"zonefile": b.String()})
}

// importZone replaces all records of a zone by those of a file.
func importZone(c *call, z *zone) (reply, error) {
	in, err := decode[struct {
		File string `json:"zonefile"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.File == "" {
		return reply{}, badField("zonefile", missing)
	}
	if z.Mode != "primary" {
		return reply{}, wrongMode(z)
	}
	if err := c.lock(z.ref()); err != nil {
		return reply{}, err
	}
	f, err := readZoneFile(z.Name, in.File)
	if err != nil {
		return reply{}, err
	}
	for _, r := range keep(c.st.rrsets.rows, func(r *rrset) bool { return r.Zone == z.ID }) {
		if r.Protected {
			return reply{}, fail("protected", "RRSet(s) is/are change protected")
		}
		c.st.rrsets.drop(r.ID)
	}
	for _, r := range f.rrsets {
		if _, err := c.putRRSet(z, r); err != nil {
			return reply{}, err
		}
	}
	c.st.zones.change(z.ID, func(z *zone) { z.TTL = cmp.Or(f.ttl, z.TTL) })
	return c.acted(c.begin(job{command: "import_zonefile", on: []ref{z.ref()}}))
}

// zoneFile is what a file says.
type zoneFile struct {
	ttl    int // the default; 0 for none
	rrsets []rrsetInput
}

// readZoneFile reads a file in the format of RFC 1035, for a zone that it must be
// one of.
func readZoneFile(zone, text string) (f zoneFile, err error) {
	last := ""
	for i, l := range zoneLines(text) {
		refuse := func(format string, args ...any) error {
			return badField("zonefile", "line %d: %s", i+1, fmt.Sprintf(format, args...))
		}
		fields := zoneFields(l.text)
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == "$ORIGIN":
			if len(fields) != 2 || fields[1] != zone+"." {
				return f, refuse("$ORIGIN must be %s.", zone)
			}
			continue
		case fields[0] == "$TTL":
			if f.ttl, err = strconv.Atoi(strings.Join(fields[1:], "")); err != nil {
				return f, refuse("$TTL is no number")
			}
			continue
		}
		name := last
		if l.text[0] != ' ' && l.text[0] != '\t' {
			name, fields = relativeTo(zone, fields[0]), fields[1:]
		}
		last = name
		r, err := zoneRecord(fields)
		if err != nil {
			return f, refuse("%v", err)
		}
		r.Name, r.Records[0].Comment = name, l.comment
		f.add(r)
	}
	return f, f.complete()
}

// complete refuses a file without what every zone has.
func (f zoneFile) complete() error {
	has := func(kind, value string) bool {
		return slices.ContainsFunc(f.rrsets, func(r rrsetInput) bool {
			return r.Name == "@" && r.Type == kind && slices.ContainsFunc(r.Records, func(o record) bool { return value == "" || o.Value == value })
		})
	}
	if !has("SOA", "") {
		return badField("zonefile", "A SOA record is required.")
	}
	for _, ns := range zoneNameservers {
		if !has("NS", ns) {
			return badField("zonefile", "The nameserver %s is required.", ns)
		}
	}
	return nil
}

// add puts a record beside others of its name and type.
func (f *zoneFile) add(r rrsetInput) {
	i := slices.IndexFunc(f.rrsets, func(o rrsetInput) bool { return o.Name == r.Name && o.Type == r.Type })
	if i < 0 {
		f.rrsets = append(f.rrsets, r)
		return
	}
	f.rrsets[i].Records = append(f.rrsets[i].Records, r.Records...)
}

// zoneRecord reads what follows the name: TTL and class in any order, the type,
// and the value.
func zoneRecord(fields []string) (r rrsetInput, err error) {
	for len(fields) > 0 {
		word := strings.ToUpper(fields[0])
		ttl, notNumber := strconv.Atoi(word)
		switch {
		case notNumber == nil && r.TTL == nil:
			r.TTL = &ttl
		case word == "CH" || word == "HS":
			return r, fmt.Errorf("only the class IN is allowed")
		case word != "IN":
			r.Type, r.Records = word, []record{{Value: strings.Join(fields[1:], " ")}}
			if len(fields) < 2 {
				err = fmt.Errorf("a record without a value")
			}
			return r, err
		}
		fields = fields[1:]
	}
	return r, fmt.Errorf("a record without a type")
}

// relativeTo is a name within a zone.
func relativeTo(zone, name string) string {
	switch {
	case name == zone+".":
		return "@"
	case strings.HasSuffix(name, "."+zone+"."):
		return strings.TrimSuffix(name, "."+zone+".")
	}
	return name
}

// zoneLine is a line of a file, with its comment apart. What parentheses hold
// together is one line.
type zoneLine struct{ text, comment string }

func zoneLines(text string) (lines []zoneLine) {
	depth := 0
	for raw := range strings.Lines(text) {
		line := splitComment(strings.TrimRight(raw, "\r\n"))
		opened := depth
		depth += strings.Count(line.text, "(") - strings.Count(line.text, ")")
		line.text = strings.NewReplacer("(", " ", ")", " ").Replace(line.text)
		if opened > 0 {
			lines[len(lines)-1].text += " " + line.text
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// splitComment cuts a line at the first semicolon outside of quotes.
func splitComment(line string) zoneLine {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			return zoneLine{line[:i], strings.TrimSpace(line[i+1:])}
		}
	}
	return zoneLine{text: line}
}

// zoneFields are the words of a line; what is quoted is one.
func zoneFields(line string) (fields []string) {
	quoted, start := false, -1
	for i, c := range line + " " {
		blank := !quoted && (c == ' ' || c == '\t')
		if c == '"' {
			quoted = !quoted
		}
		switch {
		case blank && start >= 0:
			fields, start = append(fields, line[start:i]), -1
		case !blank && start < 0 && i < len(line):
			start = i
		}
	}
	return fields
}
