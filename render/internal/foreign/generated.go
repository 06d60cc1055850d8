package foreign

import (
	"io/fs"
	"path"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamlerror"
)

// generator is a program that makes final configurations.
type generator struct {
	file    string // that it reads
	out     string // the folder that it writes
	command string
}

// generated reads a folder of a generator's, with what it wrote.
type generated struct {
	reader
	generator
	nodesElsewhere bool           // the file does not name all nodes
	vars           shellVariables // of its texts; nil: it has none
}

// decode reads the file of the generator. It has to have nodes that can be read.
func (r *generated) decode(cfg any, complete func() bool, keys string) error {
	data, err := r.read(r.file)
	if err != nil {
		return err
	}
	if r.vars != nil {
		data = r.vars.substitute(data, "")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return yamlerror.Syntax(r.file, data, err)
	}
	if err := doc.Decode(cfg); err != nil || !complete() {
		return diag.New(diag.Pos{File: r.file}, "has no nodes that can be read").
			WithHint("nodes: is a list of mappings with %s", keys)
	}
	return r.readReferred(&doc)
}

// readOutput reads what the generator wrote, which is the target: for each node, by the
// names of the files, unless they are named by hand.
func (r *generated) readOutput(nodes []NodeFile, hint string) error {
	r.origin.Target = r.out + "/, which " + r.command + " wrote: run that before, so that it is up to date"
	if _, err := fs.Stat(r.Files, r.out); err != nil {
		return diag.New(diag.Pos{File: r.out}, "does not exist: it holds the final configurations, which an import is compared with").
			WithHint("run %s in the folder, then import again", r.command).WithCause(err).WithCode(diag.Usage)
	}
	texts, err := r.configurations(r.out)
	if err != nil {
		return err
	}
	if len(r.Nodes) == 0 {
		if r.Nodes, err = r.match(nodes, texts, hint); err != nil {
			return err
		}
	}
	return r.machines(texts)
}

// match finds the configuration of each node.
func (r *generated) match(nodes []NodeFile, texts map[string][]byte, hint string) (found []NodeFile, err error) {
	var problems diag.List
	used := map[string]bool{}
	for _, n := range nodes {
		file := path.Join(r.out, n.File)
		if _, ok := texts[file]; !ok {
			problems.Add(diag.New(diag.Pos{File: file}, "does not exist: it is the configuration of node %s in %s", n.Name, r.file).WithHint("%s", hint))
			continue
		}
		used[file] = true
		found = append(found, NodeFile{Name: nodeName(n.Name), File: file, Address: n.Address})
	}
	for _, file := range sortedKeys(texts) {
		switch {
		case used[file] || len(problems) > 0:
		case r.nodesElsewhere:
			found = append(found, NodeFile{File: file})
		default:
			r.note("%s is passed over: %s has no such node", file, r.file)
		}
	}
	return found, problems.Err()
}
