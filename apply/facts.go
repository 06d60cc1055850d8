package apply

import (
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Facts is the content that envs/<env>/facts.yaml should have after the run:
// what [schemas.Facts] says, or nothing where there is no such address. It is
// known only if the run left nothing to do. kept is what the file holds: machines that it
// names stay there.
func (r *Report) Facts(kept []byte) (content []byte, known bool, err error) {
	p := r.Left
	if p == nil || len(p.Changes)+len(p.Refusals) > 0 || p.Desired.Provider != schemas.Hetzner {
		return nil, false, nil
	}
	machines := &machineRecords{file: &memoryFacts{kept}}
	if machines.load(); machines.err != nil {
		return nil, false, machines.err
	}
	file := factsContent{APIVersion: schemas.FactsVersion, Nodes: machines.now.Nodes}
	for _, a := range cloudplan.Facts(p.Desired, p.Observed) {
		file.Addresses = append(file.Addresses, factAddress(a))
	}
	content, err = file.encode()
	return content, err == nil, err
}
