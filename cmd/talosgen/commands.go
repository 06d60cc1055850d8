package main

import "github.com/urfave/cli/v2"

// commands are all commands, those of every day first. The category of a command
// is the title that help gives it.
func commands(w *world) (all []*cli.Command) {
	for _, group := range []struct {
		category string
		commands []*cli.Command
	}{
		{"every day", []*cli.Command{
			renderCommand(w), diffCommand(w), planCommand(w), applyCommand(w), statusCommand(w), healthCommand(w),
		}},
		{"sources", []*cli.Command{
			initCommand(w), secretsCommand(w), poolCommand(w), chartsCommand(w), convertCommand(w), schemaCommand(w),
		}},
		{"reading and checking", []*cli.Command{
			explainCommand(w), showCommand(w), checkCommand(w), graphCommand(w),
		}},
		{"clusters and nodes", []*cli.Command{
			kubeconfigCommand(w), talosconfigCommand(w), doctorCommand(w), imageCommand(w), etcdCommand(w), replaceCommand(w),
			resetCommand(w), takeoverCommand(w), unlockCommand(w), destroyCommand(w),
		}},
		{"without an account", []*cli.Command{tryCommand(w), simCommand(w)}},
		{"other", []*cli.Command{versionCommand(w), completionCommand(w)}},
	} {
		for _, c := range group.commands {
			c.Category = group.category
			all = append(all, c)
		}
	}
	return all
}
