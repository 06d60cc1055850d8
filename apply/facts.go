package apply

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// factsHead is what envs/<env>/facts.yaml begins with.
const factsHead = "# Public addresses at Hetzner Cloud, written by `talosgen apply`: commit them.\n"

// Facts is the content that envs/<env>/facts.yaml should have after the run:
// what [schemas.Facts] says, or nothing where there is no such address. It is
// known only if the run left nothing to do.
func (r *Report) Facts() (content []byte, known bool, err error) {
	p := r.Left
	if p == nil || len(p.Changes)+len(p.Refusals) > 0 || p.Desired.Provider != schemas.Hetzner {
		return nil, false, nil
	}
	var file struct {
		APIVersion string        `yaml:"apiVersion"`
		Addresses  []factAddress `yaml:"addresses"`
	}
	file.APIVersion = schemas.FactsVersion
	for _, a := range plan.Facts(p.Desired, p.Observed) {
		file.Addresses = append(file.Addresses, factAddress(a))
	}
	if len(file.Addresses) == 0 {
		return nil, true, nil
	}
	text := bytes.NewBufferString(factsHead)
	enc := yaml.NewEncoder(text)
	enc.SetIndent(2)
	if err := enc.Encode(file); err != nil {
		return nil, false, fmt.Errorf("facts: %w", err)
	}
	return text.Bytes(), true, nil
}

// factAddress is a [schemas.FactAddress] without what is empty.
type factAddress struct {
	Kind string `yaml:"kind"`
	Name string `yaml:"name"`
	IPv4 string `yaml:"ipv4,omitempty"`
	IPv6 string `yaml:"ipv6,omitempty"`
}
