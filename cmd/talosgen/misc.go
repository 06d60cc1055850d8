package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

func schemaCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:  "schema",
		Usage: "print the JSON Schema of cluster.yaml",
		Description: `Editors use it to check and complete cluster.yaml. The first line of the file
names it:
   # yaml-language-server: $schema=<file or URL>

Example:
   talosgen schema > cluster.schema.json`,
		Action: func(*cli.Context) error { return w.printData(schemas.ClusterSchema) },
	}
}

func versionCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		Description: "Example:\n   talosgen version -o json",
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if wantsJSON(c) {
				return w.printJSON(map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			return w.printData([]byte(versionText() + "\n"))
		},
	}
}

func versionText() string {
	return fmt.Sprintf("talosgen %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func completionCommand(w *world) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `Examples:
   source <(talosgen completion bash)
   talosgen completion zsh > "${fpath[1]}/_talosgen"
   talosgen completion fish > ~/.config/fish/completions/talosgen.fish`,
		Action: func(c *cli.Context) error {
			script, ok := completionScripts[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return diag.On("", "which shell?").WithHint("talosgen completion bash, zsh or fish").WithCode(diag.Usage)
			}
			return w.printData([]byte(script))
		},
	}
}

// completionScripts ask talosgen itself for what can follow: urfave/cli answers
// to --generate-bash-completion.
var completionScripts = map[string]string{
	"bash": `_talosgen() {
    local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
    local cur="${COMP_WORDS[COMP_CWORD]}"
    [[ "$cur" == -* ]] && words+=("$cur")
    COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _talosgen talosgen
`,
	"zsh": `#compdef talosgen
_talosgen() {
    local -a options
    local cur="${words[CURRENT]}"
    local -a line=("${words[@]:0:$((CURRENT-1))}")
    [[ "$cur" == -* ]] && line+=("$cur")
    options=("${(@f)$("${line[@]}" --generate-bash-completion 2>/dev/null)}")
    if [[ -n "${options[1]}" ]]; then
        _describe 'values' options
    else
        _files
    fi
}
compdef _talosgen talosgen
`,
	"fish": `function __talosgen_complete
    set -l line (commandline -opc)
    set -l cur (commandline -ct)
    string match -q -- '-*' "$cur"; and set -a line "$cur"
    $line --generate-bash-completion 2>/dev/null
end
complete -c talosgen -f -a '(__talosgen_complete)'
`,
}

// completeEnvironments prints the environments, and the nodes once one is
// there, for the completion of a shell.
func (w *world) completeEnvironments(withNodes bool) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		// The last argument asks for the completion of the one before. A flag there
		// that is not complete is not among the arguments of c.
		if n := len(w.args); n > 1 && strings.HasPrefix(w.args[n-2], "-") {
			cli.DefaultCompleteWithFlags(c.Command)(c)
			return
		}
		repo, err := w.openRepo(c)
		if err != nil {
			return // a shell is told nothing rather than an error
		}
		defer repo.Close()
		var names []string
		switch {
		case c.NArg() == 0:
			names, _ = repo.Environments()
		case c.NArg() == 1 && withNodes:
			names, _ = repo.RenderedNodes(c.Args().First())
		}
		for _, name := range names {
			fmt.Fprintln(w.stdout, name)
		}
	}
}
