package main

import (
	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/scaffold"
	"github.com/talosgen/talosgen/render/nodepools"
)

// values are what the value of a flag can be.
func (p completer) values(l *typedLine) []string {
	switch l.flag {
	case flagNode, flagRetry, flagYesReplace:
		return p.nodes(l)
	case flagEndpoints, flagFingerprint:
		return prefixed(p.nodes(l), func(name string) string { return name + "=" })
	case flagSeed, flagEnv:
		return p.environments(l)
	case flagAllow, flagAdopt:
		return p.consents(l)
	case flagOutput:
		return formatsOf(l)
	case "role":
		if l.command.Name == "talosconfig" {
			return apply.TalosRoles()
		}
		return []string{"controlplane", "worker", "all"}
	}
	return map[string][]string{
		flagMode: {string(nodes.Auto), string(nodes.NoReboot), string(nodes.Staged)}, flagStage: stageNames(),
		flagUntil: untilValues, flagAutoscaled: autoscaledValues, flagRebootMode: rebootModes,
		"provider": scaffold.Providers, "ci": scaffold.CIs,
	}[l.flag]
}

// formatsOf are the formats that --output of a command says.
func formatsOf(l *typedLine) []string {
	for _, f := range l.flags {
		if format, ok := f.(formats); ok {
			return format.names
		}
	}
	return nil
}

// consents are ids that --allow takes: of upgrade, risks; else servers of the tree.
func (p completer) consents(l *typedLine) []string {
	switch l.command.Name {
	case "upgrade":
		return []string{
			upgrade.RiskHops, upgrade.RiskDowngrade, upgrade.RiskExtensions, upgrade.RiskNoReturn, upgrade.RiskSingle, upgrade.RiskTwo,
			upgrade.RiskNoSnapshot, upgrade.RiskContract, upgrade.RiskRemoved,
		}
	case "plan", "apply":
		return prefixed(p.nodes(l), func(name string) string { return "server/" + name })
	}
	return nil
}

func prefixed(names []string, text func(string) string) (texts []string) {
	for _, name := range names {
		texts = append(texts, text(name))
	}
	return texts
}

func (p completer) environments(l *typedLine) []string { return p.ws.environments(p.context(l)) }

// nodes are those of the environment that the line names.
func (p completer) nodes(l *typedLine) []string {
	if len(l.positional) == 0 {
		return nil
	}
	repo, err := p.ws.open(p.context(l))
	if err != nil {
		return nil // a shell is told nothing rather than an error
	}
	defer repo.Close()
	names, _ := repo.RenderedNodes(l.positional[0])
	return names
}

func (p completer) pools(l *typedLine) (names []string) {
	repo, err := p.ws.open(p.context(l))
	if err != nil || len(l.positional) == 0 {
		return nil
	}
	defer repo.Close()
	pools, err := nodepools.List(repo, l.positional[0])
	if err != nil {
		return nil
	}
	for _, pool := range pools {
		names = append(names, pool.Name)
	}
	return names
}
