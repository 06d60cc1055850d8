package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestMessagesNameWhatExists finds commands, flags, pages and options that a text
// of the program names and that do not exist: all literals of its source,
// what scripts expect it to print, and the files of a new repository.
func TestMessagesNameWhatExists(t *testing.T) {
	n := newNames(t)
	for _, m := range slices.Concat(sourceMessages(t), scriptMessages(t), scaffoldMessages(t)) {
		for _, problem := range n.check(m.text) {
			t.Errorf("%s: %s, in %q", m.at, problem, m.text)
		}
	}
	n.complete(t, map[string]int{"commands": 200, "flags": 60, "options": 60, "pages": 3})
}

// TestMessagesNameNothingElse shows that the test above finds what it is for.
func TestMessagesNameNothingElse(t *testing.T) {
	n := newNames(t)
	for text, want := range map[string]string{
		"a living node gets another Talos by talosgen modernise":          `"talosgen modernise": there is no command "modernise"`,
		"run `talosgen health --all X`":                                   `"talosgen health": there is no flag "--all"`,
		"talosgen secrets upgrade":                                        `"talosgen secrets": there is no command "upgrade"`,
		"`talosgen render X` and `talosgen charts vendor --prune`":        "",
		"name the file with --ssh-keys":                                   `there is no flag --ssh-keys`,
		"name the file with --ssh-key, or `talosctl reset --insecure`":    "",
		"set hetzner.firewall.apiSources":                                 `there is no option hetzner.firewall.apiSources`,
		"set hetzner.firewall.apiSource, or addons.hcloud-ccm.enabled":    "",
		"set nodes.workers.nodepools[2].count or nodes.controlPlane.X":    "",
		"see docs/how-to/nowhere.md":                                      "docs/how-to/nowhere.md leads nowhere",
		"see docs/how-to/access.md#who-gets-in":                           "",
		"see docs/how-to/access.md#whose-turn":                            "docs/how-to/access.md has no heading #whose-turn",
		"talosgen knows Talos 1.9, and envs/dev/cluster.yaml stays":       "",
		"with cluster.env, network.nodeCidrs and kubernetes.io/whatever ": "",
	} {
		if got := strings.Join(n.check(text), ", "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// names are what texts may name, and a count of what they do.
type names struct {
	t     *testing.T
	app   *cli.App
	flags map[string]bool
	used  map[string]bool // of foreignFlags and prose
	seen  map[string]int
	// The JSON Schema of cluster.yaml.
	schema map[string]any
}

func newNames(t *testing.T) *names {
	t.Helper()
	w, _, _ := testApp()
	n := &names{t: t, app: newCLI(w), flags: map[string]bool{"help": true}, used: map[string]bool{}, seen: map[string]int{}}
	var add func(flags []cli.Flag, commands []*cli.Command)
	add = func(flags []cli.Flag, commands []*cli.Command) {
		for _, f := range flags {
			for _, name := range f.Names() {
				n.flags[name] = true
			}
		}
		for _, c := range commands {
			add(c.Flags, c.Subcommands)
		}
	}
	add(n.app.Flags, n.app.Commands)
	data, err := os.ReadFile(filepath.Join(repository, "schemas", "cluster.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &n.schema); err != nil {
		t.Fatal(err)
	}
	return n
}

// foreignFlags are flags that texts name and talosgen has not: of talosctl, gpg, the
// library for command lines, and misspelt ones in what scripts expect.
var foreignFlags = []string{"insecure", "to", "armor", "export", "from-controlplane-config", "patch", "allow-dirt", "chek", "keyles"}

// prose are words that follow the name of the program where it is no command.
var prose = []string{
	"alone", "applied", "asked", "before", "could", "defines", "does", "for", "from", "inside", "is", "knows",
	"lifts", "made", "merges", "needs", "placeholder", "reads", "runs", "take", "that", "to", "uses", "v", "would", "wrote",
}

// foreignOptions look like options of cluster.yaml, and are files, secrets,
// or names of the DNS and of APIs.
var foreignOptions = []string{
	"certificates.k8s.io", "hetzner.cloud", "kubernetes.default", "kubernetes.default.svc", "secrets.sops.yaml", "secrets.yaml", "storage.k8s.io", "talos.dev", "talos.trustdinfo.token",
}

var (
	anyCall   = regexp.MustCompile("(?:^|[\\s`('\"])talosgen ((?:[a-z][a-z-]*)(?: [^\\s`;,.)'\"]+)*)")
	anyFlag   = regexp.MustCompile("(?:^|[\\s`(])--([a-z][a-z0-9-]+)")
	anyOption = regexp.MustCompile(`(?:^|[\s("'` + "`" + `])([a-z][A-Za-z]*(?:\.[A-Za-z][A-Za-z0-9-]*|\[[0-9X]+\])+)(?:[^A-Za-z0-9/.-]|\.?$|\.\s)`)
	anyPage   = regexp.MustCompile(`docs/[a-z-]+/[a-z0-9-]+\.md(?:#[a-z0-9-]+)?`)
)

// check returns what a text names that does not exist.
func (n *names) check(text string) (problems []string) {
	for _, m := range anyCall.FindAllStringSubmatch(text, -1) {
		problems = append(problems, n.checkCommand(m[1])...)
	}
	for _, m := range anyFlag.FindAllStringSubmatch(text, -1) {
		n.seen["flags"]++
		if !n.flags[m[1]] && !n.among(foreignFlags, m[1]) {
			problems = append(problems, "there is no flag --"+m[1])
		}
	}
	for _, m := range anyOption.FindAllStringSubmatch(text, -1) {
		problems = append(problems, n.checkOption(m[1])...)
	}
	for _, m := range anyPage.FindAllString(text, -1) {
		n.seen["pages"]++
		if err := checkLink(n.t, "README.md", m); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// among reports whether a word is one of a list, and notes that the list needs it.
func (n *names) among(list []string, word string) bool {
	n.used[word] = n.used[word] || slices.Contains(list, word)
	return slices.Contains(list, word)
}

// checkCommand looks for a command, and for those of its flags that follow it at
// once: what comes behind may be prose.
func (n *names) checkCommand(call string) []string {
	words, commands, flags := strings.Fields(call), n.app.Commands, n.app.Flags
	path := "talosgen"
	for len(commands) > 0 && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		word := strings.TrimRight(words[0], ":")
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		switch {
		case at < 0 && (word == unknownPart || path == "talosgen" && n.among(prose, word)):
			return nil
		case at < 0:
			if path == "talosgen" {
				path += " " + word
			}
			return []string{fmt.Sprintf("%q: there is no command %q", path, word)}
		}
		n.seen["commands"]++
		path += " " + word
		flags, commands, words = append(slices.Clone(flags), commands[at].Flags...), commands[at].Subcommands, words[1:]
	}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if strings.HasPrefix(word, "--") && name != "" && name != unknownPart && name != "help" &&
			!slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			return []string{fmt.Sprintf("%q: there is no flag %q", path, "--"+name)}
		}
	}
	return nil
}

// checkOption looks for an option of cluster.yaml, by its path.
func (n *names) checkOption(path string) []string {
	at, rest := n.schema, strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	if _, top := n.property(at, rest[0]); !top || n.among(foreignOptions, path) {
		return nil
	}
	n.seen["options"]++
	for _, key := range rest {
		next, ok := n.property(at, key)
		if !ok {
			return []string{"there is no option " + path}
		}
		if next == nil {
			return nil
		}
		at = next
	}
	return nil
}

// property is the schema of a key, or of an item of a list; nil if anything may
// stand there.
func (n *names) property(of map[string]any, key string) (map[string]any, bool) {
	of = n.resolve(of)
	if items, ok := of["items"].(map[string]any); ok {
		if strings.HasPrefix(key, "[") {
			return n.resolve(items), true
		}
		of = n.resolve(items)
	}
	if key == unknownPart {
		return nil, true
	}
	key = strings.TrimSuffix(key, unknownPart) // such as the index behind it
	if properties, ok := of["properties"].(map[string]any); ok {
		if p, ok := properties[key].(map[string]any); ok {
			return n.resolve(p), true
		}
	}
	switch more := of["additionalProperties"].(type) {
	case map[string]any:
		return n.resolve(more), true
	case bool:
		return nil, more
	}
	return nil, false
}

// resolve follows a reference of the schema.
func (n *names) resolve(of map[string]any) map[string]any {
	for {
		ref, ok := of["$ref"].(string)
		if !ok {
			return of
		}
		next := n.schema
		for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			next, _ = next[part].(map[string]any)
		}
		of = next
	}
}

// complete makes sure that something was looked at, and that lists of exceptions
// have nothing that no text needs any more.
func (n *names) complete(t *testing.T, least map[string]int) {
	t.Helper()
	for kind, want := range least {
		if n.seen[kind] < want {
			t.Errorf("only %d %s were found", n.seen[kind], kind)
		}
	}
	for _, word := range slices.Concat(foreignFlags, prose, foreignOptions) {
		if !n.used[word] {
			t.Errorf("no text has %q: take it off its list", word)
		}
	}
}
