package foreign

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// genScript is what a script of the folder calls `talosctl gen config` with. It is read,
// and never run.
type genScript struct {
	file  string // empty: there is none
	line  int
	args  []string
	flags map[string]string
}

// scriptDirs are where people have their scripts.
var scriptDirs = []string{".", "scripts", "hack", "bin", "tools", "patches"}

// readScripts looks for the call.
func (l *layered) readScripts() error {
	for _, dir := range slices.Concat(scriptDirs, l.dirs) {
		for _, e := range entries(l.Files, dir) {
			if e.IsDir() || !isScript(e.Name()) {
				continue
			}
			file := path.Join(dir, e.Name())
			data, err := fs.ReadFile(l.Files, file)
			if err != nil {
				return diag.New(diag.Pos{File: file}, "cannot be read").WithCause(err)
			}
			if call, line := genCall(data); call != "" {
				l.note("%s is passed over: talosgen render does what it did", file)
				l.script = genScript{file: file, line: line, flags: map[string]string{}}
				return l.readCall(shellWords(call))
			}
		}
	}
	return nil
}

func isScript(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".mk"}, path.Ext(name)) || slices.Contains([]string{"Makefile", "Taskfile.yaml", "Taskfile.yml", "justfile"}, name) || !strings.Contains(name, ".")
}

// genCall is what follows `talosctl gen config` in a script, on one line, and the number
// of its first line.
func genCall(script []byte) (call string, line int) {
	script = bytes.ReplaceAll(script, []byte("\\\r\n"), []byte("\\\n"))
	lines := strings.Split(string(script), "\n")
	for i := range lines {
		_, after, found := strings.Cut(lines[i], "gen config ")
		if !found || strings.HasPrefix(strings.TrimSpace(lines[i]), "#") {
			continue
		}
		line = i + 1
		for ; strings.HasSuffix(after, "\\") && i+1 < len(lines); i++ {
			after = strings.TrimSuffix(after, "\\") + " " + lines[i+1]
		}
		return after, line
	}
	return "", 0
}

// shellWords parts a line into words, up to what follows the command.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, inWord := byte(0), false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case quote == 0 && strings.IndexByte(" \t", c) >= 0:
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		case quote == 0 && strings.IndexByte(";|&>", c) >= 0:
			i = len(line)
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// Flags of the call: those that are used, those that say what the folder does, and
// those without a value.
var (
	usedFlags   = []string{"install-disk", "install-image", "kubernetes-version", "talos-version", "additional-sans", "dns-domain", "with-cluster-discovery", "with-kubespan"}
	folderFlags = []string{"with-secrets", "config-patch", "config-patch-control-plane", "config-patch-worker", "output", "output-dir", "output-types", "o", "t", "with-docs", "with-examples", "force", "f", "version"}
	bareFlags   = []string{"with-docs", "with-examples", "force", "f", "with-cluster-discovery", "with-kubespan"}
)

// readCall reads the words of the call.
func (l *layered) readCall(words []string) error {
	var problems diag.List
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		if !isFlag {
			if !strings.Contains(words[i], "[@]") && !strings.Contains(words[i], "[*]") {
				l.script.args = append(l.script.args, words[i])
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch {
		case given:
		case slices.Contains(bareFlags, name):
			value = "true"
		case i+1 < len(words):
			i++
			value = words[i]
		}
		if slices.Contains(usedFlags, name) {
			l.script.flags[name] = value
		} else if !slices.Contains(folderFlags, name) {
			problems.Add(diag.New(l.scriptPos(), "an import does not know what --%s does", name).
				WithHint("put it into a patch, and take it out of the call; or import the final configurations: --from talosctl"))
		}
	}
	return problems.Err()
}

func (l *layered) scriptPos() diag.Pos { return diag.Pos{File: l.script.file, Line: l.script.line} }

// scriptValue is a word of the script with its variables; false if one is not known.
func (l *layered) scriptValue(word string) (string, bool) {
	for _, cut := range []string{"#v}", "#v*}", "##v}"} { // ${NAME#v} takes the v away
		if name, ok := strings.CutSuffix(word, cut); ok && strings.HasPrefix(word, "${") {
			value, known := l.scriptValue(name + "}")
			return strings.TrimPrefix(value, "v"), known
		}
	}
	for _, ref := range reference.FindAllString(word, -1) {
		if l.vars.unknown(ref) != "" {
			return "", false
		}
	}
	return string(l.vars.substitute([]byte(word), "")), !strings.Contains(word, "$(") && !strings.Contains(word, "`")
}

// first is the value of the first of some variables that has one.
func (v shellVariables) first(names ...string) string {
	for _, name := range names {
		if found := v[name]; found.Value != "" {
			return found.Value
		}
	}
	return ""
}

// fact is an argument of the call; what it does not have, or what is known to the script
// alone, is a variable of a name that people use.
func (l *layered) fact(word string, given bool, names ...string) string {
	if given {
		if value, known := l.scriptValue(word); known {
			return value
		}
	}
	return l.vars.first(names...)
}

// genConfig are the arguments of `talosctl gen config`, from the script and the
// variables.
func (l *layered) genConfig() (machine.GenConfig, error) {
	arg := func(i int, names ...string) string {
		if i < len(l.script.args) {
			return l.fact(l.script.args[i], true, names...)
		}
		return l.vars.first(names...)
	}
	flag := func(name, otherwise string, names ...string) string {
		word, given := l.script.flags[name]
		if l.script.file != "" && !given {
			return otherwise // talosctl's own
		}
		if value := l.fact(word, given, names...); value != "" {
			return value
		}
		return otherwise
	}
	talos := l.vars.first("TALOS_VERSION")
	if word, given := l.script.flags["talos-version"]; given {
		talos = l.fact(word, true, "TALOS_VERSION")
	}
	release, known := versions.Of(talos)
	g := machine.GenConfig{
		ClusterName:       arg(0, "CLUSTER_NAME", "TALOS_CLUSTER_NAME", "CLUSTER"),
		Endpoint:          arg(1, endpointNames...),
		Contract:          release.Contract(),
		KubernetesVersion: flag("kubernetes-version", release.Kubernetes, "KUBERNETES_VERSION", "K8S_VERSION"),
		InstallDisk:       flag("install-disk", "/dev/sda", "INSTALL_DISK", "TALOS_INSTALL_DISK"),
		InstallImage:      flag("install-image", installerOf(talos), "INSTALL_IMAGE", "INSTALLER_IMAGE", "TALOS_INSTALLER_IMAGE"),
		DNSDomain:         flag("dns-domain", "cluster.local", "DNS_DOMAIN", "CLUSTER_DNS_DOMAIN"),
		NoDiscovery:       flag("with-cluster-discovery", "true") == "false",
		KubeSpan:          flag("with-kubespan", "false") == "true",
	}
	if sans := flag("additional-sans", ""); sans != "" {
		g.CertSANs = strings.Split(sans, ",")
	}
	if vip := l.vars.first("CLUSTER_VIP", "CONTROL_PLANE_VIP", "CONTROLPLANE_VIP", "API_VIP", "VIP"); g.Endpoint == "" && vip != "" {
		g.Endpoint = "https://" + vip + ":6443"
	}
	return g, l.missing(g, talos, known)
}

var endpointNames = []string{"CLUSTER_ENDPOINT", "CONTROL_PLANE_ENDPOINT", "CONTROLPLANE_ENDPOINT", "API_ENDPOINT", "K8S_ENDPOINT", "KUBERNETES_ENDPOINT", "ENDPOINT"}

func installerOf(talos string) string {
	return "ghcr.io/siderolabs/installer:v" + strings.TrimPrefix(talos, "v")
}

// missing names what nothing in the folder says.
func (l *layered) missing(g machine.GenConfig, talos string, known bool) error {
	file := l.envFile
	if file == "" {
		file = path.Join(l.dirs[0], "cluster.env")
	}
	var problems diag.List
	lacks := func(what, line string) {
		problems.Add(diag.New(diag.Pos{File: file}, "does not say %s", what).WithHint("add a line %s", line))
	}
	if g.ClusterName == "" {
		lacks("what the cluster is called", "CLUSTER_NAME=<name>")
	}
	if g.Endpoint == "" {
		lacks("where the Kubernetes API is", "CLUSTER_ENDPOINT=https://<address>:6443")
	}
	if talos == "" {
		lacks("which Talos the machines have", "TALOS_VERSION="+versions.Newest().Talos)
	} else if !known {
		problems.Add(diag.New(diag.Pos{File: file}, "has Talos %s, which is not known; known are %s", talos, versions.Range()))
	}
	return problems.Err()
}
