package fit

import (
	"time"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// common is what trials have in common, each made once.
type common struct {
	wanted  map[int][]residue.Document // by the index of the machine
	bundles map[string]*machine.Bundle // by contract
}

// documents are those that a machine has. Who is given them may change them.
func (c *common) documents(index int, config *machine.Config) ([]residue.Document, error) {
	docs, known := c.wanted[index]
	if !known {
		var err error
		if docs, err = residue.Documents(config); err != nil {
			return nil, err
		}
		if c.wanted == nil {
			c.wanted = map[int][]residue.Document{}
		}
		c.wanted[index] = docs
	}
	return residue.Copy(docs), nil
}

// bundle holds the placeholders by which a trial tells what is secret.
func (c *common) bundle(contract string, now time.Time) (*machine.Bundle, error) {
	if bundle := c.bundles[contract]; bundle != nil {
		return bundle, nil
	}
	bundle, err := machine.PlaceholderBundle(contract, now)
	if err != nil {
		return nil, err
	}
	if c.bundles == nil {
		c.bundles = map[string]*machine.Bundle{}
	}
	c.bundles[contract] = bundle
	return bundle, nil
}
