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
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

func secretsCommand(w *world) *cli.Command {
	command := &cli.Command{
		Name:  "secrets",
		Usage: "make and change the secrets of an environment",
		Subcommands: []*cli.Command{
			{
				Name: "init", Usage: "make the secrets of a new environment", ArgsUsage: "<env>",
				Description: `Makes the Talos secrets bundle, the cluster's own age key and the keyring, and
encrypts them at once for the recipients in .sops.yaml. Existing secrets are
never overwritten.

Example:
   talosgen secrets init dev`,
				Action: w.secretsAction(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Init(c.Context, repo, env)
				}),
			},
			{
				Name: "sync", Usage: "add the secrets that are missing", ArgsUsage: "<env>",
				Description: `Generates every secret that the environment needs and does not have. What is
there keeps its ciphertext. A keyring of an older version is sealed as the
present version is, with the same data keys.

Example:
   talosgen secrets sync dev`,
				Flags: []cli.Flag{newKeysFlag()},
				Action: w.secretsAction(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Sync(c.Context, repo, env)
				}),
			},
			{
				Name: "edit", Usage: "edit secrets.sops.yaml in $EDITOR", ArgsUsage: "<env>",
				Description: `Opens the decrypted file in $SOPS_EDITOR or $EDITOR. Values that you do not
change keep their ciphertext. Secret variables go under variables: and are
used in patches as ${NAME}.

Example:
   talosgen secrets edit dev`,
				Flags: []cli.Flag{newKeysFlag()},
				Action: w.secretsAction(func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
					return vault.Edit(c.Context, repo, env, func(plain []byte) ([]byte, error) {
						return w.edit(c, plain, func(text []byte) error { return vault.Check(env, text) })
					})
				}),
			},
			rekeyCommand(w),
			{
				Name: "import", Usage: "take over the secrets of an existing cluster", ArgsUsage: "<env> <file>",
				Description: `Reads what ` + "`talosctl gen secrets`" + ` wrote, or the machine configuration of a
control plane, in the clear or encrypted with SOPS.

Example:
   talosgen secrets import prod ~/controlplane.yaml`,
				Flags:  []cli.Flag{newKeysFlag()},
				Action: w.importAction,
			},
		},
	}
	for _, c := range command.Subcommands {
		c.BashComplete = w.completeEnvironments(false)
	}
	return command
}

// secretsAction runs a command on the secrets of one environment.
func (w *world) secretsAction(do func(*cli.Context, *render.Repo, string) (*vault.Report, error)) cli.ActionFunc {
	return func(c *cli.Context) error {
		env, err := w.environment(c)
		if err != nil {
			return err
		}
		return w.onSecrets(c, env, do)
	}
}

func (w *world) importAction(c *cli.Context) error {
	env, err := w.environment(c, "<file>")
	if err != nil {
		return err
	}
	file := c.Args().Get(1)
	data, err := os.ReadFile(file)
	if err != nil {
		return unreadable(file, err)
	}
	return w.onSecrets(c, env, func(c *cli.Context, repo *render.Repo, env string) (*vault.Report, error) {
		return vault.Import(c.Context, repo, env, file, data)
	})
}

func (w *world) onSecrets(c *cli.Context, env string, do func(*cli.Context, *render.Repo, string) (*vault.Report, error)) error {
	repo, err := w.openRepo(c)
	if err != nil {
		return err
	}
	defer repo.Close()
	report, err := do(c, told(c, repo), env)
	if err != nil {
		return err
	}
	w.printSecrets(report)
	return nil
}

func (w *world) printSecrets(report *vault.Report) {
	if len(report.Changed) == 0 {
		w.say("nothing changed")
	}
	for _, file := range report.Changed {
		w.say("wrote %s", file)
	}
	if len(report.Added) > 0 {
		w.say("added %s", strings.Join(report.Added, ", "))
	}
	for _, note := range report.Notes {
		w.say("%s", note)
	}
}

// edit lets the user's editor change a text, again if the result is wrong and
// the user wants to. It lies in a file of the user alone, in memory where the
// system has a place for that, and is overwritten before it is removed.
func (w *world) edit(c *cli.Context, plain []byte, check func([]byte) error) ([]byte, error) {
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
		if err := w.runEditor(c, file); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		problem := check(text)
		if problem == nil || !w.answers {
			return text, problem
		}
		if !w.again(c.Context, problem) {
			return nil, diag.On("", "nothing was changed").WithCode(diag.CodeOf(problem))
		}
	}
}

// again asks, on a terminal, whether to edit a text again that is wrong: what
// was typed would be lost.
func (w *world) again(ctx context.Context, problem error) bool {
	w.printError(problem)
	fmt.Fprint(w.stderr, "edit again? [Y/n] ")
	answer, err := w.readAnswer(ctx)
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

// runEditor has the editor of the user change a file.
func (w *world) runEditor(c *cli.Context, file string) error {
	editor := "vi"
	for _, name := range []string{"SOPS_EDITOR", "EDITOR"} {
		if v, ok := w.lookup(name); ok && strings.TrimSpace(v) != "" {
			editor = v
			break
		}
	}
	args := editorCommand(editor, file)
	cmd := exec.CommandContext(c.Context, args[0], args[1:]...)
	cmd.Env = childEnvironment(os.Environ(), w.isSecret)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = w.stdin, os.Stderr, os.Stderr
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
