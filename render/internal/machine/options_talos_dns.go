package machine

// resolver sets what nodes ask for names and for the time.
func (b talosWriter) resolver(o TalosOptions) {
	for _, s := range o.Nameservers {
		p, item := b.at("machine.network.nameservers"), stringNode(s.Value, s.Pos)
		if p.moved() {
			item = mappingNode(s.Pos)
			put(item, "address", stringNode(s.Value, s.Pos))
		}
		b.append(p, item)
	}
	b.addAll(b.at("machine.time.servers"), o.TimeServers)
	b.staticHosts(o.StaticHosts)
	b.hostDNS(o.HostDNS)
	b.truth(b.at("machine.network.kubespan.enabled"), o.KubeSpan)
}

func (b talosWriter) staticHosts(hosts []StaticHost) {
	for _, h := range hosts {
		p := b.at("machine.network.extraHostEntries")
		if p.moved() {
			b.addAll(place{b.named(p.id.Kind, h.Address).id, p.path}, h.Names)
			continue
		}
		item := mappingNode(h.Address.Pos)
		put(item, "ip", stringNode(h.Address.Value, h.Address.Pos))
		put(item, "aliases", stringNodes(h.Names))
		b.append(p, item)
	}
}

func (b talosWriter) hostDNS(o HostDNSOptions) {
	for _, v := range []struct {
		key   string
		value Option
	}{{"enabled", o.Enabled}, {"forwardKubeDNSToHost", o.ForwardKubeDNSToHost}, {"resolveMemberNames", o.ResolveMemberNames}} {
		if v.value.Value != "" {
			b.put(b.at("machine.features.hostDNS."+v.key), boolNode(v.value.Value == "true", v.value.Pos))
		}
	}
}
