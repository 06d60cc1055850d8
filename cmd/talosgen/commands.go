package main

import "github.com/urfave/cli/v2"

// commands are all commands, those of every day first, each with what it needs of
// the app. The category of a command is the title that help gives it.
func commands(a *app) (all []*cli.Command) {
	ws, out, trees, clusters := a.workspace(), &a.console, a.trees(), a.clusters()
	charts := chartNetwork{vars: a.vars, out: out, http: a.http, clock: a.clock, cache: a.chartCache()}
	access := accessWriter{trees: trees, out: out, vars: a.vars, clock: a.clock, random: a.random}
	for _, group := range []struct {
		category string
		commands []*cli.Command
	}{
		{"every day", []*cli.Command{
			renderCommand{ws, out, charts}.command(), diffCommand{ws, out}.command(), planCommand{clusters}.command(),
			applyCommand{clusters}.command(), rehearseCommand{a}.command(), statusCommand{clusters}.command(), healthCommand{clusters}.command(), watchCommand{clusters}.command(),
		}},
		{"sources", []*cli.Command{
			initCommand{
				out: out, process: a.renderProcess(), addresses: publicAddress{a.http},
				operator: operatorKeys{vars: a.vars, keys: a.keys(), clock: a.clock, random: a.random},
			}.command(),
			envCommand{ws, out}.command(), secretsCommand{ws, out, editor{out, a.vars}}.command(), rotateCommand{ws, out}.command(), importCommand{ws, out}.command(), adoptCommand{importCommand{ws, out}, clusters}.command(), poolCommand{ws, out}.command(), exportCommand{ws, access, out}.command(),
			chartsCommand{ws, out, charts}.command(), convertCommand{a.cwd, out}.command(), schemaCommand{out}.command(),
		}},
		{"reading and checking", []*cli.Command{
			explainCommand{ws, out}.command(), showCommand{ws, out}.command(), checkCommand{a.cwd, ws, out}.command(), graphCommand{ws, out, clusters}.command(),
		}},
		{"clusters and nodes", []*cli.Command{
			kubeconfigCommand{access, a.lookup}.command(), talosconfigCommand{access}.command(), nodeAccessCommand{clusters}.command(), historyCommand{clusters}.command(), supportCommand{clusters}.command(), outputCommand{clusters}.command(), doctorCommand{clusters}.command(),
			imageCommand{clusters}.command(), etcdCommand{clusters}.command(), replaceCommand{clusters}.command(), installCommand{clusters}.command(),
			resetCommand{clusters}.command(), takeoverCommand{clusters}.command(), upgradeCommand{clusters}.command(), unlockCommand{clusters}.command(), destroyCommand{clusters}.command(),
		}},
		{"without an account", []*cli.Command{
			tryCommand{a}.command(), simCommand{ws: ws, out: out, clock: a.clock, random: a.random}.command(),
		}},
		{"other", []*cli.Command{versionCommand{out}.command(), completionCommand{out}.command(), manCommand{out}.command()}},
	} {
		for _, c := range group.commands {
			c.Category = group.category
			all = append(all, c)
		}
	}
	return all
}
