package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pmezard/go-difflib/difflib"
)

// state is all that there is, in the order of its text, without what is another one each
// time: ids, times, public addresses. Of what may be secret there are digests.
func (l *life) state() string {
	l.t.Helper()
	l.later(time.Minute) // what takes its time has happened
	var lines []string
	names := map[float64]string{}
	all := map[string][]map[string]any{}
	for _, kind := range []string{"servers", "networks", "firewalls", "load_balancers", "placement_groups", "floating_ips", "primary_ips", "volumes", "images", "ssh_keys"} {
		for _, o := range l.list(kind) {
			if o["type"] == "system" {
				continue
			}
			id, _ := o["id"].(float64)
			names[id], _ = o["name"].(string)
			if kind == "images" {
				names[id], _ = o["description"].(string)
			}
			all[kind] = append(all[kind], o)
		}
	}
	for kind, objects := range all {
		for _, o := range objects {
			lines = append(lines, asBlock(kind, stable(o, "", names)))
		}
	}
	lines = append(lines, l.nodeState()...)
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// nodeState is what is on the nodes, in etcd and in Kubernetes.
func (l *life) nodeState() (lines []string) {
	names := map[float64]string{}
	l.fleet.Settle()
	for _, m := range l.fleet.Machines() {
		lines = append(lines, fmt.Sprintf("node %s %s %x", m.Name(), m.Stage(), sha256.Sum256([]byte(m.Config()))))
	}
	const first = "dev-control-plane-1"
	lines = append(lines, "etcd "+strings.Join(l.fleet.Members(first), " "))
	api := l.fleet.Kubernetes(first)
	if api == nil {
		return lines
	}
	_ = l.fleet.Kubernetes(first) // what follows from what has happened
	for _, o := range api.All("") {
		if name, _ := o["metadata"].(map[string]any)["name"].(string); name == "talosgen-history" {
			continue // how many runs it took, and when
		}
		switch o["kind"] {
		case "Lease":
			continue // whose it is, and since when
		case "Secret":
			o["data"] = fmt.Sprintf("%x", sha256.Sum256([]byte(asLine(o["data"]))))
		}
		lines = append(lines, asBlock("kubernetes", stable(o, "", names)))
	}
	return lines
}

// passing are the fields that are others each time.
var passing = []string{
	"id", "created", "uid", "resourceVersion", "creationTimestamp", "time", "bootID", "systemUUID", "providerID", "kubernetes.io/config.mirror",
	"generation", "observedGeneration", "talosgen.dev/run", "talosgen.dev/bootstrap-machine", "dns_ptr", "mac_address", "ingoing_traffic", "outgoing_traffic", "created_from", "image_size",
	"linux_device",
}

// stable is a value without what is another one each time.
func stable(value any, key string, names map[float64]string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, below := range v {
			none := k == "annotations" && asLine(below) == "{}" // all of them were taken away again
			if !slices.Contains(passing, k) && !none {
				out[k] = stable(below, k, names)
			}
		}
		if v["assignee_id"] != nil { // it is named by its id
			out["name"] = "of " + names[v["assignee_id"].(float64)]
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = stable(v[i], key, names)
		}
		if !slices.Contains([]string{"rules", "services"}, key) {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(asLine(a), asLine(b)) })
		}
		return out
	case float64:
		if name, known := names[v]; known && v > 1000 {
			return name
		}
	case string:
		return withoutAddresses(v)
	}
	return value
}

// withoutAddresses is a text without public addresses.
func withoutAddresses(text string) string {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return text
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	if prefix.Addr().IsPrivate() || prefix.Bits() == 0 {
		return text
	}
	return "public"
}

func asLine(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// asBlock is a value in lines, so that a difference is one.
func asBlock(kind string, value any) string {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err.Error()
	}
	return kind + " " + string(text)
}

// joinedDiff is what two states differ in.
func joinedDiff(want, got string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		Context: 6, A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: "without kills", ToFile: "with kills",
	})
	if err != nil {
		return err.Error()
	}
	return text
}
