package main

import (
	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// completionCommand prints completion scripts of shells.
type completionCommand struct{ out *console }

func (p completionCommand) command() *cli.Command {
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
			return p.out.printData([]byte(script))
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
