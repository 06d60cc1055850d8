package newenv

import (
	"regexp"
	"strings"
)

// nameForm is what the name of an environment or a cluster is like.
var nameForm = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$`)

// renamed is the name of a cluster with the name of the new environment where that of the
// other one was; without one it is the new one.
func renamed(cluster, like, env string) string {
	parts := strings.Split("-"+cluster+"-", "-"+like+"-")
	if len(parts) != 2 {
		return env
	}
	return strings.Trim(parts[0]+"-"+env+"-"+parts[1], "-")
}

// nodes are the new names of nodes, by the old ones.
type nodes map[string]string

// nodeNames are the names of nodes that begin with that of the cluster.
func (a *adding) nodeNames() nodes {
	names := nodes{}
	for _, n := range append(a.have.Resolve(), a.have.AutoscaledNodes()...) {
		if rest, is := strings.CutPrefix(n.Name, a.have.ClusterName+"-"); is {
			names[n.Name] = a.report.Cluster + "-" + rest
		}
	}
	return names
}

// word is a name in a text.
var word = regexp.MustCompile(`[A-Za-z0-9][-A-Za-z0-9]*`)

// text has the new names in a text.
func (n nodes) text(text string) string {
	return word.ReplaceAllStringFunc(text, func(name string) string {
		if now, is := n[name]; is {
			return now
		}
		return name
	})
}

// comment is a line that is one.
var comment = regexp.MustCompile(`(?m)^[ \t]*#.*$`)

// comments has the new names in the comments of a text: a value may name another node.
func (n nodes) comments(text string) string { return comment.ReplaceAllStringFunc(text, n.text) }

// file has the new name in the path of patches for a node.
func (n nodes) file(name string) string {
	rest, is := strings.CutPrefix(name, "patches/nodes/")
	if !is {
		return name
	}
	node, below, _ := strings.Cut(rest, "/")
	bare := strings.TrimSuffix(node, ".yaml")
	if now, is := n[bare]; is {
		return strings.TrimSuffix("patches/nodes/"+now+strings.TrimPrefix(node, bare)+"/"+below, "/")
	}
	return name
}
