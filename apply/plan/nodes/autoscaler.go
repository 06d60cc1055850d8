package nodes

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/rotation"
)

// Autoscaler is what makes nodes by itself, as it was seen in a rotation.
type Autoscaler struct {
	// Why it could not be looked at; empty: it could.
	Silent string
	// The configurations that its Secret has for new servers, by group; nil: it cannot be
	// read.
	Groups map[string]*nodeconfig.Config
	Pods   []rotation.Pod
	// The names of its servers that are not reached as nodes.
	Servers []string
}

// made are the kinds of rotations that new workers have a part in.
var made = []rotation.Kind{rotation.TalosCA, rotation.KubernetesCA}

const (
	silentHint = "the Kubernetes API has to answer: talosgen health shows what is wrong"
	comingHint = "wait until it is a node that is reached, or let the autoscaler delete it; " +
		"apply leaves nodes of pools alone that Git has no more, or that have autoscaler.discovery: false: delete those"
)

// comers are the nodes of which one may come at any time.
func (a Autoscaler) comers(kind rotation.Kind) []rotation.Node {
	switch {
	case !slices.Contains(made, kind):
		return nil
	case a.Silent != "":
		return []rotation.Node{{Name: "a new server of the autoscaler (" + a.Silent + ")", Hint: silentHint}}
	}
	seen := rotation.Autoscaler{Pods: a.Pods}
	for _, group := range slices.Sorted(maps.Keys(a.Groups)) {
		n := rotation.Node{Name: "a new server of " + group}
		if config := a.Groups[group]; config != nil {
			n.Trust = new(config.Trust(kind))
		}
		seen.Groups = append(seen.Groups, n)
	}
	for _, name := range a.Servers {
		seen.Servers = append(seen.Servers, rotation.Node{Name: "server " + name + " of the autoscaler", Hint: comingHint})
	}
	return seen.Comers(kind)
}

// Groups reads what the autoscaler makes servers from: the configurations of its groups.
// One that cannot be read is nil.
func Groups(text []byte) map[string]*nodeconfig.Config {
	var file struct {
		NodeConfigs map[string]struct {
			CloudInit string `json:"cloudInit"`
		} `json:"nodeConfigs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return map[string]*nodeconfig.Config{"the autoscaler": nil}
	}
	groups := map[string]*nodeconfig.Config{}
	for group, of := range file.NodeConfigs {
		groups[group] = nil
		if config, err := nodeconfig.Parse("group "+group, unpacked(of.CloudInit)); err == nil && config.MachineType() != "" {
			groups[group] = config
		}
	}
	return groups
}

// maxUnpacked is more than any machine configuration has.
const maxUnpacked = 16 << 20

// unpacked is user data as Talos takes it: compressed in base64, or as it is.
func unpacked(userData string) []byte {
	packed, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		return []byte(userData)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return packed
	}
	text, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
	if err != nil {
		return nil
	}
	return text
}

// Rotates reports whether a node, or the tree, is in the middle of a rotation in which new
// workers have a part: what makes these has to be looked at before others take a phase.
func Rotates(desired Desired, observed Observed) bool {
	for _, want := range desired.Nodes {
		has := observed.node(want.Name).Config
		for _, kind := range made {
			if want.Config == nil {
				continue
			}
			wants := want.Config.Trust(kind)
			if len(wants.Accepts) > 0 || has != nil && !has.Trust(kind).Equal(wants) {
				return true
			}
		}
	}
	return false
}

// MayMake says why the autoscaler must not get what Git has for new servers yet, and what
// helps: it follows the rules of a node. Before is what its Secret has, after is what Git
// has. Alone says that the nodes are not looked at.
func MayMake(before, after map[string]*nodeconfig.Config, desired Desired, observed Observed, alone bool) (why, hint string) {
	for _, kind := range made {
		has, wants, known := steps(kind, before, after)
		switch {
		case !known && len(before) > 0 && len(after) > 0 && Rotates(desired, observed):
			return "it is not known which authorities new servers trust", "look at its content, which apply has not made"
		case !known || has.Equal(wants) || rotation.Learns(has, wants):
			continue
		case !rotation.Step(has, wants):
			return "new servers would skip a phase of the rotation of " + kind.Subject(), phaseBefore(kind)
		case alone:
			return "new servers would take the next phase of the rotation of " + kind.Subject() + ", and nodes were not looked at", "apply all stages"
		}
		if why, of := rotation.Awaited(kind, has, wants, trustsOf(kind, desired.Nodes, observed)); why != "" {
			return "the next phase of the rotation of " + kind.Subject() + " is too early: " + why, cmp.Or(of.Hint, phaseBefore(kind))
		}
	}
	return "", ""
}

// Turns reports whether new servers are to get more than one authority more to trust.
func Turns(before, after map[string]*nodeconfig.Config) bool {
	return slices.ContainsFunc(made, func(kind rotation.Kind) bool {
		has, wants, known := steps(kind, before, after)
		return known && !has.Equal(wants) && !rotation.Learns(has, wants)
	})
}

// steps are what servers trust that are made now, and what they are to trust. All groups
// have the same; known is false if there is none.
func steps(kind rotation.Kind, before, after map[string]*nodeconfig.Config) (has, wants rotation.Trust, known bool) {
	first := func(groups map[string]*nodeconfig.Config) (t rotation.Trust, found bool) {
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			if config := groups[group]; config != nil {
				return config.Trust(kind), true
			}
		}
		return t, false
	}
	has, had := first(before)
	wants, will := first(after)
	return has, wants, had && will
}
