// Package pools changes the pools in a cluster.yaml: it picks offsets and
// indexes so that no node that stays gets another address, and edits the text
// with its comments and layout kept. It is pure: a text goes in, a text comes
// out, and a result that would not load is an error.
package pools

import (
	"maps"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/yamledit"
	"github.com/talosgen/talosgen/schemas"
)

// Source is the cluster.yaml of an environment.
type Source struct {
	File  string // its path in the repository
	Text  []byte
	Bases config.Files // what it may be laid over
	Scope *subst.Scope
}

// with are the files of the environment if its own holds a text.
func (s Source) with(text []byte) config.Files {
	files := config.Files{}
	maps.Copy(files, s.Bases)
	files[s.File] = text
	return files
}

// Result is a cluster.yaml with other pools.
type Result struct {
	Text   []byte
	Config *config.Config
	Notes  []string // what whoever changed it should know
	Gone   Gone
}

// editor is a change that is being made.
type editor struct {
	Source
	original *config.Config
	now      *config.Config // what is changed so far, as of the last reload
	file     *yamledit.File
	under    *yaml.Node // what the bases say; nil without a base
	notes    []string
	moving   map[string]bool // pools that are to get other addresses
}

// open reads a cluster.yaml whose pools may overlap, because a change may be
// there to end that.
func open(s Source) (*editor, error) {
	before, err := config.LoadOverlapping(s.File, s.with(s.Text), s.Scope)
	if err != nil {
		return nil, err
	}
	file, err := yamledit.Parse(s.File, s.Text)
	if err != nil {
		return nil, err
	}
	e := &editor{Source: s, original: before, now: before, file: file, moving: map[string]bool{}}
	return e, e.readBases()
}

// finish makes sure that the changed text loads, and that no node moved.
func (e *editor) finish() (*Result, error) {
	after, err := config.Load(e.File, e.with(e.file.Text()), e.Scope)
	if err != nil {
		return nil, e.invalid(err)
	}
	if err := e.checkMoves(after); err != nil {
		return nil, err
	}
	return &Result{Text: e.file.Text(), Config: after, Notes: e.notes, Gone: goneBetween(e.original, after)}, nil
}

// invalid tells why the file cannot be changed: because of what is wrong with it
// already, else because of what would be wrong with it.
func (e *editor) invalid(err error) error {
	if _, already := config.Load(e.File, e.with(e.Text), e.Scope); already != nil {
		return already
	}
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		p.Message = "after this change, " + p.Message
	}
	return problems.Err()
}

// checkMoves makes sure of the promise that this package is about.
func (e *editor) checkMoves(after *config.Config) error {
	addresses := map[string]config.Node{}
	for _, n := range e.original.Resolve() {
		addresses[n.Name] = n
	}
	for _, n := range after.Resolve() {
		if old, stays := addresses[n.Name]; stays && old.PrivateIP.IsValid() && old.PrivateIP != n.PrivateIP && !e.moving[n.Pool] {
			return diag.New(diag.Pos{File: e.File}, "the change would move %s from %s to %s; nothing was written", n.Name, old.PrivateIP, n.PrivateIP)
		}
	}
	return nil
}

// edit makes one change of the text.
func (e *editor) edit(file *yamledit.File, err error) error {
	if err == nil {
		e.file = file
	}
	return err
}

// pool returns a pool by its name.
func (e *editor) pool(name string) (config.Pool, error) {
	var names []string
	for _, p := range e.now.Pools() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	hint := diag.Suggest(name, names)
	if hint == "" {
		hint = "pools: " + strings.Join(names, ", ")
	}
	return config.Pool{}, diag.New(diag.Pos{File: e.File}, "there is no pool %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}

// others are the places that other pools have in the subnet of a pool.
func (e *editor) others(of config.Pool) address.Places {
	taken := address.Places{}
	for _, p := range e.now.Pools() {
		if p.Autoscaled || p.Subnet != of.Subnet {
			continue
		}
		taken.Add(0, p.Pinned)
		if p.Name != of.Name {
			taken.Add(p.Offset, p.Counted)
		}
	}
	return taken
}

// needsServers refuses what makes no sense for machines that exist already.
func (e *editor) needsServers() error {
	if e.now.Provider != schemas.Static {
		return nil
	}
	return e.notCounted("static nodes")
}

// notCounted is the error of machines that exist already.
func (e *editor) notCounted(what string) error {
	return diag.New(diag.Pos{File: e.File}, "%s are machines that exist already: they are described, not counted", what).
		WithHint("add or change them in the file; `talosgen pool remove` can take them out")
}

// env is the name of the environment.
func (e *editor) env() string { return path.Base(path.Dir(e.File)) }
