package machine

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// IngressOptions say what Talos lets in to a machine that no other firewall protects.
type IngressOptions struct {
	// Block is "block" where only what a rule names gets in. No value: everything does.
	Block Option
	Rules []IngressRule
}

// IngressRule lets in packets from some addresses to some ports.
type IngressRule struct {
	Name     Option
	Protocol string // tcp or udp
	Ports    string // one or a range
	Sources  []Option
}

// ingress writes the rules, which have documents of their own at every contract.
func (b linkWriter) ingress() {
	o := b.options.Ingress
	if o.Block.Value == "" {
		return
	}
	b.text(place{id: ID{mainKind, "NetworkDefaultActionConfig", ""}}, o.Block, "ingress")
	for _, r := range o.Rules {
		p := b.named("NetworkRuleConfig", r.Name)
		ports := stringNode(r.Ports, r.Name.Pos)
		if one, err := strconv.Atoi(r.Ports); err == nil {
			ports = intNode(one, r.Name.Pos)
		}
		b.put(p, sequenceNode(ports), "portSelector", "ports")
		b.put(p, stringNode(r.Protocol, r.Name.Pos), "portSelector", "protocol")
		var sources []*yaml.Node
		for _, s := range r.Sources {
			source := mappingNode(s.Pos)
			put(source, "subnet", stringNode(s.Value, s.Pos))
			sources = append(sources, source)
		}
		b.put(p, sequenceNode(sources...), "ingress")
	}
}
