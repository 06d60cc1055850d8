package apply

import (
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// What envs/<env>/facts.yaml begins with: of a cluster at Hetzner Cloud, and of
// machines that exist already.
const (
	factsHead    = "# Public addresses at Hetzner Cloud, written by `talosgen apply`: commit them.\n"
	machinesHead = "# Machines that were configured, written by `talosgen apply`: commit it. They are never taken for new ones.\n"
)

// Facts is the content that envs/<env>/facts.yaml should have after the run:
// what [schemas.Facts] says, or nothing where there is no such address. It is
// known only if the run left nothing to do.
func (r *Report) Facts() (content []byte, known bool, err error) {
	p := r.Left
	if p == nil || len(p.Changes)+len(p.Refusals) > 0 || p.Desired.Provider != schemas.Hetzner {
		return nil, false, nil
	}
	file := factsContent{APIVersion: schemas.FactsVersion}
	for _, a := range cloudplan.Facts(p.Desired, p.Observed) {
		file.Addresses = append(file.Addresses, factAddress(a))
	}
	content, err = file.encode()
	return content, err == nil, err
}

// factAddress is a [schemas.FactAddress] without what is empty.
type factAddress struct {
	Kind string `yaml:"kind"`
	Name string `yaml:"name"`
	IPv4 string `yaml:"ipv4,omitempty"`
	IPv6 string `yaml:"ipv6,omitempty"`
}
