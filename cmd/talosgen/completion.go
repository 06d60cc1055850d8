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
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: `Examples:
   source <(talosgen completion bash)
   talosgen completion zsh > "${fpath[1]}/_talosgen"
   talosgen completion fish > ~/.config/fish/completions/talosgen.fish
   talosgen completion powershell >> $PROFILE`,
		Action: func(c *cli.Context) error {
			script, ok := completionScripts[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return diag.On("", "which shell?").WithHint("talosgen completion bash, zsh, fish or powershell").WithCode(diag.Usage)
			}
			return p.out.printData([]byte(script))
		},
	}
}

// completionScripts ask talosgen itself for what can stand in the place of the last
// word: see [completer].
var completionScripts = map[string]string{
	"bash": `_talosgen() {
    local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
    local cur="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(compgen -W "$("${words[0]}" __complete "${words[@]:1}" "$cur" 2>/dev/null)" -- "${cur#=}"))
}
complete -o bashdefault -o default -F _talosgen talosgen
`,
	"zsh": `#compdef talosgen
_talosgen() {
    local -a options
    local cur="${words[CURRENT]}"
    local -a line=("${words[@]:1:$((CURRENT-2))}")
    options=("${(@f)$("${words[1]}" __complete "${line[@]}" "$cur" 2>/dev/null)}")
    if [[ -n "${options[1]}" ]]; then
        [[ "$cur" == -*=* ]] && compset -P '*='
        compadd -a options
    else
        _files
    fi
}
compdef _talosgen talosgen
`,
	"fish": `function __talosgen_complete
    set -l line (commandline -opc)
    set -l cur (commandline -ct)
    set -l found ($line[1] __complete $line[2..] "$cur" 2>/dev/null)
    if test (count $found) -eq 0
        __fish_complete_path "$cur"
    else if string match -q -- '-*=*' "$cur"
        printf '%s\n' (string replace -r '=.*' '=' -- "$cur")$found
    else
        printf '%s\n' $found
    end
end
complete -c talosgen -f -a '(__talosgen_complete)'
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName talosgen -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    if ($words.Count -eq 0) { return }
    $before = @($words | Select-Object -Skip 1)
    $current = if ($wordToComplete) { $wordToComplete } else { '""' }
    & $words[0] __complete @before $current 2>$null | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`,
}
