package machine

import talosconfig "github.com/siderolabs/talos/pkg/machinery/config"

// resolver sets what nodes ask for names and for the time: in documents since
// 1.12, the DNS cache since 1.14, KubeSpan since 1.13.
func (b talosWriter) resolver(o TalosOptions) {
	documents := b.since(talosconfig.TalosVersion1_12)
	for _, s := range o.Nameservers {
		if !documents {
			b.add(MainID, stringNode(s.Value, s.Pos), "machine", "network", "nameservers")
			continue
		}
		item := mappingNode(s.Pos)
		put(item, "address", stringNode(s.Value, s.Pos))
		b.add(kind("ResolverConfig"), item, "nameservers")
	}
	times := place{MainID, []string{"machine", "time"}}
	if documents {
		times = place{kind("TimeSyncConfig"), []string{"ntp"}}
	}
	b.addAll(times, o.TimeServers, "servers")
	b.staticHosts(o.StaticHosts, documents)
	b.hostDNS(o.HostDNS)
	if o.KubeSpan.Value != "" {
		p := place{MainID, []string{"machine", "network", "kubespan"}}
		if b.since(talosconfig.TalosVersion1_13) {
			p = place{id: kind("KubeSpanConfig")}
		}
		b.put(p, boolNode(true, o.KubeSpan.Pos), "enabled")
	}
}

func (b talosWriter) staticHosts(hosts []StaticHost, documents bool) {
	for _, h := range hosts {
		if documents {
			b.addAll(b.named("StaticHostConfig", h.Address), h.Names, "hostnames")
			continue
		}
		item := mappingNode(h.Address.Pos)
		put(item, "ip", stringNode(h.Address.Value, h.Address.Pos))
		put(item, "aliases", stringNodes(h.Names))
		b.add(MainID, item, "machine", "network", "extraHostEntries")
	}
}

func (b talosWriter) hostDNS(o HostDNSOptions) {
	p := place{MainID, []string{"machine", "features", "hostDNS"}}
	if multiDocument(b.vc) {
		p = place{kind("ResolverConfig"), []string{"hostDNS"}}
	}
	for _, v := range []struct {
		key   string
		value Option
	}{{"enabled", o.Enabled}, {"forwardKubeDNSToHost", o.ForwardKubeDNSToHost}, {"resolveMemberNames", o.ResolveMemberNames}} {
		if v.value.Value != "" {
			b.put(p, boolNode(v.value.Value == "true", v.value.Pos), v.key)
		}
	}
}
