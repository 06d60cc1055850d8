package foreign

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/secretplaces"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// nodeVariable is what talosgen calls the name of a node, in patches of several.
const nodeVariable = "NODE_NAME"

// readVariables reads cluster.env: that of all environments, and that of this one, which
// comes after it.
func (l *layered) readVariables() error {
	l.vars = shellVariables{}
	dirs := []string{".", "patches"}
	if l.dirs[0] != "." {
		dirs = append(dirs, l.dirs...)
	}
	var problems diag.List
	for _, dir := range dirs {
		file := path.Join(dir, "cluster.env")
		if data, err := fs.ReadFile(l.Files, file); err == nil {
			l.envFile = file
			problems.AddErr(l.readEnv(file, data))
		}
	}
	return problems.Err()
}

// readEnv reads a file with variables. Those that it has take the place of earlier ones.
func (l *layered) readEnv(file string, data []byte) error {
	if bytes.Contains(data, []byte("\nsops_mac=")) {
		return diag.New(diag.Pos{File: file}, "is encrypted, and files with variables are not decrypted here").
			WithHint("decrypt it for the import: what is secret in it gets into secrets.sops.yaml")
	}
	vars, err := subst.ParseEnv(file, data)
	if err != nil {
		return err
	}
	for name := range vars {
		l.dropVariable(name)
	}
	var problems diag.List
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		for name, v := range vars {
			if v.Pos.Line != number {
				continue
			}
			value, err := l.vars.shellValue(line, v)
			if err != nil {
				problems.AddErr(err)
			} else if value != v.Value {
				line = envLine(name, value, line)
			}
			v.Value = value
			l.vars[name] = v
		}
		l.env = append(l.env, strings.TrimRight(line, "\r\n")+"\n"...)
	}
	return problems.Err()
}

// envLine is the line of a variable whose value has become another one. The comment stays.
func envLine(name, value, line string) string {
	comment := ""
	if at := strings.LastIndex(line, " #"); at > strings.LastIndexAny(line, `"'`) {
		comment = strings.TrimRight(line[at:], "\r\n")
	}
	if strings.ContainsAny(value, " \t'\"#$\\`") {
		value = "'" + value + "'"
	}
	return name + "=" + value + comment + "\n"
}

// dropVariable takes a variable out of cluster.env.
func (l *layered) dropVariable(name string) {
	is := regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?` + name + `[ \t]*=.*\n`)
	l.env = is.ReplaceAll(l.env, nil)
	delete(l.vars, name)
}

// shellVariables are variables as shells and envsubst read them.
type shellVariables map[string]subst.Var

// shellValue is the value of a variable as a shell has it: with those before it.
func (v shellVariables) shellValue(line string, of subst.Var) (string, error) {
	_, text, _ := strings.Cut(line, "=")
	if strings.HasPrefix(strings.TrimSpace(text), "'") || strings.Contains(text, `\$`) {
		return of.Value, nil
	}
	if strings.Contains(of.Value, "$(") || strings.Contains(of.Value, "`") {
		return "", diag.New(of.Pos, "the value is that of a command, which an import does not run").
			WithHint("write what the command prints; in single quotes it is a text")
	}
	for _, ref := range reference.FindAllString(of.Value, -1) {
		if why := v.unknown(ref); why != "" {
			return "", diag.New(of.Pos, "%s", why).WithHint("write the value; in single quotes it is a text")
		}
	}
	return string(v.substitute([]byte(of.Value), "")), nil
}

// reference is a variable as shells and envsubst read it.
var reference = regexp.MustCompile(`\$\$+(?:\{[^}\n]*\}?|[A-Za-z_][A-Za-z0-9_]*)|\$\{[^}\n]*\}?|\$[A-Za-z_][A-Za-z0-9_]*`)

// parts of a reference that is understood: the name, and a value for when it has none.
var named = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}$]*))?\})$`)

// unknown says what is wrong with a reference; empty if it can be substituted.
func (v shellVariables) unknown(ref string) string {
	found := named.FindStringSubmatch(ref)
	if found == nil {
		return ref + " is a form of variable that an import does not know; it knows $NAME, ${NAME} and ${NAME:-default}"
	}
	name := found[1] + found[2]
	if _, known := v[name]; !known && found[3] == "" && name != nodeVariable {
		return "variable " + name + " has no value in cluster.env"
	}
	return ""
}

// substitute puts values into the place of variables, in a text, as envsubst does.
func (v shellVariables) substitute(text []byte, node string) []byte {
	return reference.ReplaceAllFunc(text, func(ref []byte) []byte {
		found := named.FindStringSubmatch(string(ref))
		if found == nil {
			return ref
		}
		name := found[1] + found[2]
		value, known := v[name]
		switch {
		case !known && name == nodeVariable && node != "":
			return []byte(node)
		case found[3] != "" && value.Value == "":
			return []byte(found[4])
		case !known:
			return ref // in a comment
		}
		return []byte(value.Value)
	})
}

// braced writes $NAME as talosgen reads it.
func (v shellVariables) braced(text []byte) []byte {
	return reference.ReplaceAllFunc(text, func(ref []byte) []byte {
		found := named.FindStringSubmatch(string(ref))
		if found == nil || found[1] == "" || v.unknown(string(ref)) != "" {
			return ref
		}
		return []byte("${" + found[1] + "}")
	})
}

// inFlow is a variable that is an item of a list on one line, where YAML has it in quotes.
var inFlow = regexp.MustCompile(`([\[,:][ \t]*)(\$\{[^}\n"']*\})([ \t]*[,\]}])`)

// quoted is a text that is YAML before variables have their values, as templates of
// shells need not be; as it is if it is one already.
func quoted(text []byte) []byte {
	if _, err := documents("", text); err == nil {
		return text
	}
	again := inFlow.ReplaceAll(text, []byte(`${1}"${2}"${3}`))
	return inFlow.ReplaceAll(again, []byte(`${1}"${2}"${3}`)) // those beside others
}

// checkReferences refuses variables of a patch that have no value, and notes those that
// stand where secrets do.
func (l *layered) checkReferences(p patchFile) error {
	docs, err := documents(p.file, quoted(p.plain))
	if err != nil {
		return err
	}
	var problems diag.List
	for _, doc := range docs {
		if len(doc.Content) == 0 {
			continue
		}
		kind := Text(doc.Content[0], "kind")
		if kind == machine.MainID.Kind {
			kind = ""
		}
		eachScalar(nil, doc.Content[0], func(path yamltext.Path, n *yaml.Node) {
			for _, ref := range reference.FindAllString(n.Value, -1) {
				if why := l.vars.unknown(ref); why != "" {
					problems.Add(diag.New(diag.Pos{File: p.file, Line: n.Line, Column: n.Column}, "%s", why).
						WithHint("give it a value in cluster.env; for a text with a $, NAME='$NAME' there"))
				} else if found := named.FindStringSubmatch(ref); secretplaces.Certain(kind, path) {
					l.hide(found[1] + found[2])
				}
			}
		})
	}
	return problems.Err()
}

// eachScalar visits the values of a document, and its keys, which have no path.
func eachScalar(path yamltext.Path, n *yaml.Node, visit func(yamltext.Path, *yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		visit(path, n)
	}
	for i, c := range n.Content {
		var below yamltext.Path
		switch {
		case n.Kind == yaml.DocumentNode:
		case n.Kind == yaml.SequenceNode:
			below = append(path[:len(path):len(path)], yamltext.Index(i))
		case i%2 == 1:
			below = append(path[:len(path):len(path)], yamltext.Key(n.Content[i-1].Value))
		}
		eachScalar(below, c, visit)
	}
}

// hide makes a variable a secret one.
func (l *layered) hide(name string) {
	if v, known := l.vars[name]; known && v.Value != "" {
		l.origin.Variables[name] = secret.New(v.Value)
		l.Mask(secret.New(v.Value))
	}
}

// hideSecrets takes what is secret out of cluster.env.
func (l *layered) hideSecrets() {
	for name, v := range l.vars {
		isFile := strings.HasSuffix(name, "_FILE") || strings.HasSuffix(name, "_PATH") || strings.HasSuffix(name, "_DIR")
		holds := func(s secret.String) bool { return s.Recognisable() && strings.Contains(v.Value, s.Reveal()) }
		if secretplaces.Named(name) && !isFile || secretplaces.Holds(v.Value) || slices.ContainsFunc(l.bundle.Values(), holds) {
			l.hide(name)
		}
	}
	for name := range l.origin.Variables {
		l.dropVariable(name)
	}
	var kept []byte
	for line := range bytes.Lines(l.env) {
		kept = append(kept, withoutComment(l, line)...)
	}
	l.env = kept
}

// withoutComment is a line of cluster.env without a comment in which a secret may stand.
func withoutComment(l *layered, line []byte) []byte {
	at := max(bytes.Index(line, []byte(" #")), bytes.Index(line, []byte("\t#")))
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
		at = 0
	}
	if at < 0 || !bytes.ContainsAny(line[at:], "=:") || !secretplaces.Named(string(line[at:])) {
		return line
	}
	if at == 0 {
		return nil
	}
	comment := strings.TrimSpace(string(line[at:]))
	for _, v := range l.vars {
		if strings.Contains(v.Value, strings.TrimRight(comment, `"'`)) {
			return line // it is none, but a part of a value
		}
	}
	return append(bytes.TrimRight(line[:at], " \t"), '\n')
}
