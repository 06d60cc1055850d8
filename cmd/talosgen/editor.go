package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
)

// editor lets the operator change a text that holds secrets.
type editor struct {
	out  *console
	vars environ
}

// edit lets the user's editor change a text, again if the result is wrong and
// the user wants to. It lies in a file of the user alone, in memory where the
// system has a place for that, and is overwritten before it is removed.
func (e editor) edit(c *cli.Context, plain []byte, check func([]byte) error) ([]byte, error) {
	dir, err := os.MkdirTemp(memoryDir(), "talosgen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "secrets.yaml")
	if err := os.WriteFile(file, plain, 0o600); err != nil {
		return nil, err
	}
	defer wipe(file)
	for {
		if err := e.run(c, file); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		problem := check(text)
		if problem == nil || !e.out.answers {
			return text, problem
		}
		if !e.again(c.Context, problem) {
			return nil, diag.On("", "nothing was changed").WithCode(diag.CodeOf(problem))
		}
	}
}

// again asks, on a terminal, whether to edit a text again that is wrong: what
// was typed would be lost.
func (e editor) again(ctx context.Context, problem error) bool {
	e.out.printError(problem)
	fmt.Fprint(e.out.stderr, "edit again? [Y/n] ")
	answer, err := e.out.readAnswer(ctx)
	return err == nil && !strings.EqualFold(answer, "n")
}

// memoryDir is a directory that is kept in memory, or "" for the usual one.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func wipe(file string) {
	if info, err := os.Stat(file); err == nil {
		_ = os.WriteFile(file, make([]byte, info.Size()), 0o600)
	}
}

// run has the editor of the user change a file.
func (e editor) run(c *cli.Context, file string) error {
	editor := "vi"
	for _, name := range []string{"SOPS_EDITOR", "EDITOR"} {
		if v, ok := e.vars(name); ok && strings.TrimSpace(v) != "" {
			editor = v
			break
		}
	}
	args := editorCommand(editor, file)
	cmd := exec.CommandContext(c.Context, args[0], args[1:]...)
	cmd.Env = childEnvironment(os.Environ(), e.out.isSecret)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.out.stdin, os.Stderr, os.Stderr
	err := cmd.Run()
	name := strings.Fields(editor)[0]
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == shellNotFound {
		return diag.On(name, "the editor was not found").WithHint("name one in $EDITOR").WithCode(diag.Usage)
	}
	if err != nil {
		return diag.On(name, "the editor ended with an error (%v); nothing was changed", err)
	}
	return nil
}

// shellNotFound is how a shell ends if there is no such command.
const shellNotFound = 127

// editorCommand is what runs an editor for a file, as git does it: by a shell if
// there is something in $EDITOR that only a shell understands, such as quotes.
func editorCommand(editor, file string) []string {
	if !strings.ContainsAny(editor, "|&;<>()$`\\\"'*?[#~=%") {
		return append(strings.Fields(editor), file)
	}
	return []string{"sh", "-c", editor + ` "$@"`, "sh", file}
}
