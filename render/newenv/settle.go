package newenv

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// index is the place of an item in the path of a value.
var index = regexp.MustCompile(`\[[0-9]+\]`)

// settle writes the name of the cluster, its network and what was said into cluster.env
// and cluster.yaml.
func (a *adding) settle(move moving) error {
	file := a.path(source.ClusterFile)
	all, err := values(file, a.all(), &subst.Scope{Vars: a.was})
	if err != nil {
		return err
	}
	said := maps.Clone(a.Set)
	if said == nil {
		said = map[string]string{}
	}
	for _, v := range all {
		if v.path != "clusterName" {
			continue
		}
		switch name := variable.FindStringSubmatch(v.node.Value); {
		case name == nil && len(v.vars) == 0:
			said["clusterName"] = a.report.Cluster
		case name != nil && said[name[1]] == "":
			said[name[1]] = a.report.Cluster
		}
	}
	if err := a.say(all, said); err != nil {
		return err
	}
	a.noteEnv()
	if err := a.moveBase(all, said, move); err != nil {
		return err
	}
	return a.setNetwork(move)
}

// variable is a value that consists of one variable.
var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// say puts values in place of those that are there.
func (a *adding) say(all []value, said map[string]string) error {
	file := a.path(source.ClusterFile)
	var edits []edit
	over := map[*value]string{}
	for i, v := range all {
		text, is := said[v.path]
		if !is {
			continue
		}
		if v.base != "" {
			over[&all[i]] = text
			delete(a.set, v.path)
			continue
		}
		e, err := replacing(file, a.files[file], v.node, text)
		if err != nil {
			return err
		}
		edits = append(edits, e)
		delete(said, v.path)
		delete(a.set, v.path)
	}
	a.files[file] = applied(a.files[file], edits)
	for i := range all {
		text, is := over[&all[i]]
		if !is {
			continue
		}
		if err := a.override(all[i], text); err != nil {
			return err
		}
	}
	for name, text := range said {
		if a.setVariable(name, text) {
			delete(a.set, name)
		}
	}
	return nil
}

// setVariable gives a variable of cluster.env another value, if it is there.
func (a *adding) setVariable(name, text string) bool {
	file := a.path(clusterEnv)
	line := regexp.MustCompile(`(?m)^([ \t]*(?:export[ \t]+)?` + regexp.QuoteMeta(name) + `=).*$`)
	data := a.files[file]
	if !line.Match(data) {
		return false
	}
	if !bare.MatchString(text) {
		text = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, `$`, `\$`).Replace(text) + `"`
	}
	a.files[file] = line.ReplaceAllFunc(data, func(found []byte) []byte {
		return append(line.FindSubmatch(found)[1], text...)
	})
	return true
}

// bare is a value that cluster.env has without quotes.
var bare = regexp.MustCompile(`^[-A-Za-z0-9_./:,@%+*=\[\]]*$`)

// setNetwork names the private network, where the other one has that of the default.
func (a *adding) setNetwork(move moving) error {
	if !move.to.IsValid() || a.have.Has("network.cidr") {
		return nil
	}
	file := a.path(source.ClusterFile)
	f, err := yamledit.Parse(file, a.files[file])
	if err != nil {
		return err
	}
	cidr := yamledit.Text(move.to.String())
	if f.Len([]string{"network"}) > 0 {
		f, err = f.Set([]string{"network"}, "cidr", cidr)
	} else {
		f, err = f.Set(nil, "network", yamledit.With(yamledit.Map(), "cidr", cidr), "provider", "clusterName")
	}
	if err != nil {
		return err
	}
	a.files[file] = f.Text()
	return nil
}

// noteEnv notes variables that look like places and are as before.
func (a *adding) noteEnv() {
	own, err := subst.ParseEnv(a.path(clusterEnv), a.files[a.path(clusterEnv)])
	if err != nil {
		return // check tells
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		text := own[name].Value
		_, said := a.Set[name]
		if before := a.was[name]; !said && before.Value == text && somewhere.MatchString(text) {
			a.report.Notes = append(a.report.Notes, fmt.Sprintf("%s=%s is as in %s", name, text, a.Like))
		}
	}
	if len(a.report.Left) > 0 {
		a.report.Notes = append(a.report.Notes, "secrets are never copied: "+strings.Join(a.report.Left, ", ")+" has no counterpart in "+path.Join(source.EnvsDir, a.env))
	}
}

// somewhere is a name in DNS, an address or a URL.
var somewhere = regexp.MustCompile(`(?i)://|^[0-9]+(\.[0-9]+){3}|^[a-z0-9*-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:[0-9]+)?$`)

// edit is a text in place of another.
type edit struct {
	from, to int
	text     string
}

// replacing replaces a scalar that stands in one line.
func replacing(file string, text []byte, n *yaml.Node, with string) (edit, error) {
	from := 0
	for range n.Line - 1 {
		from += bytes.IndexByte(text[from:], '\n') + 1
	}
	from += n.Column - 1
	token := n.Value
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle:
		token = `"` + n.Value + `"`
	case yaml.SingleQuotedStyle:
		token = `'` + n.Value + `'`
	}
	if from > len(text) || !bytes.HasPrefix(text[from:], []byte(token)) {
		return edit{}, diag.New(diag.Pos{File: file, Line: n.Line, Column: n.Column}, "cannot be changed in its place").WithHint("write it in one line, without escapes").WithCode(diag.Usage)
	}
	now, err := like(n, with)
	if err != nil {
		return edit{}, err
	}
	return edit{from, from + len(token), now}, nil
}

// digits are a whole number.
var digits = regexp.MustCompile(`^[0-9]+$`)

// like writes a text as a scalar was written: in quotes if that was, and if it has to be.
func like(n *yaml.Node, text string) (string, error) {
	if n.Style&yaml.SingleQuotedStyle != 0 {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
	}
	if tag := n.ShortTag(); tag != "!!str" && n.Style == 0 && digits.MatchString(text) {
		return text, nil
	}
	plain, err := yaml.Marshal(text)
	if err != nil {
		return "", err
	}
	now := strings.TrimSuffix(string(plain), "\n")
	if n.Style&yaml.DoubleQuotedStyle == 0 && !strings.ContainsAny(now, ",[]{}#\n") {
		return now, nil
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`, nil // also in a list in one line
}

// applied is a text with edits, which do not overlap.
func applied(text []byte, edits []edit) []byte {
	sorting.By(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		text = slices.Concat(text[:e.from], []byte(e.text), text[e.to:])
	}
	return text
}
