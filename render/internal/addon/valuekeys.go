package addon

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
)

// maxKeys are how many values a message names.
const maxKeys = 4

// valuesNear names the values that a template looks at where it calls a function:
// in the same action, and in the conditions around it, the innermost first. With a
// line, only calls there count; without a function, every action of that line does.
//
// It is for messages, and reads the template alone: values that come by way of
// arguments are not found.
func (c *chart) valuesNear(file string, line int, function string) []string {
	at, text := findTemplate(c.Chart, file)
	if at == nil {
		return nil
	}
	tree := parse.New(file)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "{{", "}}", trees); err != nil {
		return nil
	}
	n := near{at: at, text: text, line: line, function: function, variables: map[string][]string{}}
	n.list(tree.Root, nil)
	for _, t := range trees {
		if t.Root != tree.Root {
			n.list(t.Root, nil)
		}
	}
	prefix := valuesPrefix(c.Chart, at)
	for i, key := range n.found {
		if !strings.HasPrefix(key, "global.") {
			n.found[i] = prefix + key
		}
	}
	return n.found
}

// findTemplate finds a template by the path that Helm gives it.
func findTemplate(at *chartv2.Chart, file string) (*chartv2.Chart, string) {
	for _, t := range at.Templates {
		if t != nil && path.Join(at.ChartFullPath(), t.Name) == file {
			return at, string(t.Data)
		}
	}
	for _, sub := range at.Dependencies() {
		if found, text := findTemplate(sub, file); found != nil {
			return found, text
		}
	}
	return nil, ""
}

// valuesPrefix is what stands before the values of a subchart in those of the
// chart.
func valuesPrefix(root, at *chartv2.Chart) (prefix string) {
	for ; at != nil && at != root; at = at.Parent() {
		prefix = at.Name() + "." + prefix
	}
	return prefix
}

// near looks for values near a call.
type near struct {
	at        *chartv2.Chart
	text      string
	line      int
	function  string
	variables map[string][]string // the values that each was made of
	found     []string
}

// list goes through a part of a template; around are the conditions that it is in,
// the innermost last.
func (n *near) list(nodes *parse.ListNode, around []*parse.PipeNode) {
	if nodes == nil {
		return
	}
	for _, node := range nodes.Nodes {
		switch v := node.(type) {
		case *parse.ActionNode:
			n.pipe(v.Pipe, around)
		case *parse.TemplateNode:
			n.pipe(v.Pipe, around)
		case *parse.IfNode:
			n.branch(&v.BranchNode, around)
		case *parse.WithNode:
			n.branch(&v.BranchNode, around)
		case *parse.RangeNode:
			n.branch(&v.BranchNode, around)
		}
	}
}

func (n *near) branch(b *parse.BranchNode, around []*parse.PipeNode) {
	n.pipe(b.Pipe, around)
	inner := append(slices.Clone(around), b.Pipe)
	n.list(b.List, inner)
	n.list(b.ElseList, inner)
}

// pipe notes values if it has the call, and of which values its variables are.
func (n *near) pipe(p *parse.PipeNode, around []*parse.PipeNode) {
	if p == nil {
		return
	}
	here := n.line == 0 || strings.Count(n.text[:min(int(p.Pos), len(n.text))], "\n")+1 == n.line
	if here && (n.function == "" || n.calls(p)) {
		n.add(n.keys(p))
		for _, condition := range slices.Backward(around) {
			n.add(n.keys(condition))
		}
	}
	for _, v := range p.Decl {
		n.variables[v.Ident[0]] = n.keys(p)
	}
}

func (n *near) add(keys []string) {
	for _, key := range keys {
		if len(n.found) < maxKeys && !slices.Contains(n.found, key) {
			n.found = append(n.found, key)
		}
	}
}

// calls tells whether a pipeline calls the function.
func (n *near) calls(p *parse.PipeNode) (does bool) {
	eachNode(p, func(node parse.Node) {
		if f, ok := node.(*parse.IdentifierNode); ok && f.Ident == n.function {
			does = true
		}
	})
	return does
}

// dotted is a text that may be the path of a value, as helpers of libraries take
// them.
var dotted = regexp.MustCompile(`^[A-Za-z]\w*(\.\w+)+$`)

// keys are the values that a pipeline reads, by their paths.
func (n *near) keys(p *parse.PipeNode) (all []string) {
	eachNode(p, func(node parse.Node) {
		switch v := node.(type) {
		case *parse.FieldNode:
			all = append(all, valuePath(v.Ident)...)
		case *parse.VariableNode:
			if path := valuePath(v.Ident); path != nil {
				all = append(all, path...)
			} else if from := n.variables[v.Ident[0]]; len(from) == 1 {
				all = append(all, strings.Join(append([]string{from[0]}, v.Ident[1:]...), "."))
			} else {
				all = append(all, from...)
			}
		case *parse.StringNode:
			first, _, _ := strings.Cut(v.Text, ".")
			if _, there := n.at.Values[first]; there && dotted.MatchString(v.Text) {
				all = append(all, v.Text)
			}
		}
	})
	return all
}

// valuePath is the path of a value in a chain of fields that reads one.
func valuePath(chain []string) []string {
	if i := slices.Index(chain, "Values"); i >= 0 && i+1 < len(chain) {
		return []string{strings.Join(chain[i+1:], ".")}
	}
	return nil
}

// eachNode calls visit with each part of a pipeline.
func eachNode(node parse.Node, visit func(parse.Node)) {
	switch v := node.(type) {
	case *parse.PipeNode:
		for _, command := range v.Cmds {
			for _, arg := range command.Args {
				eachNode(arg, visit)
			}
		}
	case *parse.ChainNode:
		eachNode(v.Node, visit)
	default:
		visit(node)
	}
}
