package plan

import "slices"

// ConsentKind is what somebody has to agree to before a step is taken.
type ConsentKind string

// Consents.
const (
	NoConsent       ConsentKind = ""
	ConsentDestroy  ConsentKind = "destroy"   // by name, or to everything destructive
	ConsentPowerOff ConsentKind = "power-off" // by name, or to every power-off
	ConsentMade     ConsentKind = "made"      // what the cluster itself made; destroy only
	ConsentUnlock   ConsentKind = "protected" // typing the cluster's name; destroy only
	ConsentRecreate ConsentKind = "recreate"  // by the name of a node or of its pool
)

// Consent is what the operator agrees to.
type Consent struct {
	// Everything destructive that is in the plan.
	AllowDestroy bool `yaml:"allowDestroy,omitempty" json:"allowDestroy,omitempty"`
	// Every power-off that is in the plan.
	AllowPowerOff bool `yaml:"allowPowerOff,omitempty" json:"allowPowerOff,omitempty"`
	// Names or keys of objects that may be destroyed or powered off.
	Allow []string `yaml:"allow,omitempty" json:"allow,omitempty"`
	// Names or keys of objects that are not the cluster's and may become its
	// own. They must be of the kind and name that is desired.
	Adopt []string `yaml:"adopt,omitempty" json:"adopt,omitempty"`
	// Names or keys of servers that are no nodes, such as the NAT gateway, to
	// delete and make again.
	Replace []string `yaml:"replace,omitempty" json:"replace,omitempty"`
	// Nodes whose configuration only a new machine has: those that may be made anew are.
	Rebuild []string `yaml:"rebuild,omitempty" json:"rebuild,omitempty"`
	// Nodes that stay though they may be made anew: nobody agreed to lose their volumes.
	Keep []string `yaml:"keep,omitempty" json:"keep,omitempty"`
	// Nodes that pools have beside their own while these are made anew.
	Surge []string `yaml:"surge,omitempty" json:"surge,omitempty"`
	// Nodes that have left the cluster: their servers may be replaced too.
	Left []string `yaml:"-" json:"-"`
	// Destroy only: what the cloud controller, the CSI driver and the autoscaler
	// of the cluster made.
	AllowMade bool `yaml:"allowMade,omitempty" json:"allowMade,omitempty"`
	// Destroy only: the name of the cluster, typed by somebody who means it. It
	// lifts protection.
	Unprotect string `yaml:"unprotect,omitempty" json:"unprotect,omitempty"`
	// Destroy only: the environment that suggested commands name; empty: they name
	// none.
	Environment string `yaml:"-" json:"-"`
}

// And adds the consent of another policy.
func (p Consent) And(more Consent) Consent {
	p.AllowDestroy = p.AllowDestroy || more.AllowDestroy
	p.AllowPowerOff = p.AllowPowerOff || more.AllowPowerOff
	p.AllowMade = p.AllowMade || more.AllowMade
	p.Allow = slices.Concat(p.Allow, more.Allow)
	p.Adopt = slices.Concat(p.Adopt, more.Adopt)
	p.Replace = slices.Concat(p.Replace, more.Replace)
	p.Rebuild, p.Keep = slices.Concat(p.Rebuild, more.Rebuild), slices.Concat(p.Keep, more.Keep)
	p.Surge = slices.Concat(p.Surge, more.Surge)
	if more.Unprotect != "" {
		p.Unprotect = more.Unprotect
	}
	return p
}

// Destroys reports whether the policy agrees to destroy an object, by its name
// or key, or to destroy everything that is in the plan.
func (p Consent) Destroys(key Key, name string) bool {
	return p.AllowDestroy || Named(p.Allow, key, name)
}

// PowersOff reports whether the policy agrees to power off an object. Consent to
// destroy it counts too.
func (p Consent) PowersOff(key Key, name string) bool {
	return p.AllowPowerOff || p.Destroys(key, name)
}

// The kinds of keys by which somebody agrees that nodes are made anew, and that what is
// on volumes that go with them is lost. The name of a node follows, or of its pool.
const (
	RecreateKey = "recreate/"
	VolumesKey  = "volumes/"
)

// Recreates reports whether the policy agrees that a node is made anew. Consent to
// everything destructive does not: without, the node stays, and so do its disks.
func (p Consent) Recreates(node, pool string) bool { return p.agreesFor(RecreateKey, node, pool) }

// LosesVolumes reports whether the policy agrees that a node takes volumes along.
func (p Consent) LosesVolumes(node, pool string) bool { return p.agreesFor(VolumesKey, node, pool) }

func (p Consent) agreesFor(kind, node, pool string) bool {
	return slices.Contains(p.Allow, kind+node) || pool != "" && slices.Contains(p.Allow, kind+pool)
}

// Named reports whether an object is meant by one of some names or keys.
func Named(list []string, key Key, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, string(key))
}
