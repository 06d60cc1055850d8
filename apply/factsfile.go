package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// FactsFile is envs/<env>/facts.yaml in the sources of an environment.
type FactsFile interface {
	// Read returns the content; nothing if there is no such file.
	Read() ([]byte, error)
	// Write replaces the content.
	Write(content []byte) error
}

// memoryFacts is a file that is kept as long as a run.
type memoryFacts struct{ content []byte }

// Read returns the content.
func (h *memoryFacts) Read() ([]byte, error) { return h.content, nil }

// Write keeps the content.
func (h *memoryFacts) Write(content []byte) error {
	h.content = content
	return nil
}

// machineRecords keep which machines that exist already were configured, by the
// names of their nodes, in the facts of the environment.
type machineRecords struct {
	file FactsFile

	mu   sync.Mutex
	read bool
	now  factsContent
	err  error // why they cannot be read
}

// factsContent is the content of facts.yaml, in its order.
type factsContent struct {
	APIVersion string        `yaml:"apiVersion"`
	Addresses  []factAddress `yaml:"addresses,omitempty"`
	Nodes      []factNode    `yaml:"nodes,omitempty"`
}

// factNode is a [schemas.FactNode] without what is empty.
type factNode struct {
	Name   string `yaml:"name"`
	SentTo string `yaml:"sentTo,omitempty"`
}

// load reads the file. What cannot be read is not taken for absent.
func (r *machineRecords) load() {
	content, err := r.file.Read()
	r.read, r.now, r.err = true, factsContent{}, err
	if err != nil || content == nil {
		return
	}
	dec := yaml.NewDecoder(bytes.NewReader(content))
	dec.KnownFields(true)
	if err := dec.Decode(&r.now); err != nil && !errors.Is(err, io.EOF) {
		r.err = fmt.Errorf("facts.yaml: %w", err)
	} else if r.now.APIVersion != schemas.FactsVersion {
		r.err = fmt.Errorf("facts.yaml is of the version %q, not %s", r.now.APIVersion, schemas.FactsVersion)
	}
}

// Of returns the record of a machine.
func (r *machineRecords) Of(m nodes.Machine) newonce.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.read {
		r.load()
	}
	if r.err != nil {
		return newonce.Record{State: newonce.Unreadable, Reason: oneLine(r.err)}
	}
	i := r.index(m)
	switch {
	case i < 0:
		return newonce.Record{State: newonce.Blank}
	case r.now.Nodes[i].SentTo != "":
		return newonce.Record{State: newonce.Sending, Fingerprint: r.now.Nodes[i].SentTo}
	}
	return newonce.Record{State: newonce.Sent}
}

func (r *machineRecords) index(m nodes.Machine) int {
	return slices.IndexFunc(r.now.Nodes, func(n factNode) bool { return n.Name == m.Name })
}

// Sending writes which key a machine has shown.
func (r *machineRecords) Sending(_ context.Context, m nodes.Machine, fingerprint string) error {
	return r.change(func() { r.put(factNode{Name: m.Name, SentTo: fingerprint}) })
}

// Arrived writes that machines were configured.
func (r *machineRecords) Arrived(_ context.Context, machines ...nodes.Machine) error {
	return r.change(func() {
		for _, m := range machines {
			r.put(factNode{Name: m.Name})
		}
	})
}

// Forgotten removes what is written of a machine.
func (r *machineRecords) Forgotten(_ context.Context, m nodes.Machine) error {
	return r.change(func() {
		if i := r.index(m); i >= 0 {
			r.now.Nodes = slices.Delete(r.now.Nodes, i, i+1)
		}
	})
}

// put adds a node, in the order of names.
func (r *machineRecords) put(n factNode) {
	r.now.Nodes = slices.DeleteFunc(r.now.Nodes, func(have factNode) bool { return have.Name == n.Name })
	r.now.Nodes = append(r.now.Nodes, n)
	sorting.By(r.now.Nodes, func(a, b factNode) int { return strings.Compare(a.Name, b.Name) })
}

// change reads the file again, changes it, and writes it.
func (r *machineRecords) change(how func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.load(); r.err != nil {
		return diag.On("record of nodes", "cannot be read: %s", oneLine(r.err)).WithHint("restore it from Git").WithCode(diag.Input).WithCause(r.err)
	}
	how()
	r.now.APIVersion = schemas.FactsVersion
	content, err := r.now.encode()
	if err == nil {
		err = r.file.Write(content)
	}
	if err != nil {
		r.read = false
	}
	return err
}

// encode writes facts as the file holds them; nothing without any.
func (f factsContent) encode() ([]byte, error) {
	head := factsHead
	switch {
	case len(f.Addresses)+len(f.Nodes) == 0:
		return nil, nil
	case len(f.Addresses) > 0 && len(f.Nodes) > 0:
		head = bothHead
	case len(f.Nodes) > 0:
		head = machinesHead
	}
	text := bytes.NewBufferString(head)
	enc := yaml.NewEncoder(text)
	enc.SetIndent(2)
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	return text.Bytes(), nil
}

// What envs/<env>/facts.yaml begins with: of a cluster at Hetzner Cloud, of machines that
// exist already, and of both.
const (
	factsHead    = "# Public addresses at Hetzner Cloud, written by `talosgen apply`: commit them.\n"
	bothHead     = "# Public addresses at Hetzner Cloud, and machines that were configured and are never taken for new ones, written by `talosgen apply`: commit it.\n"
	machinesHead = "# Machines that were configured, written by `talosgen apply`: commit it. They are never taken for new ones.\n"
)

// factAddress is a [schemas.FactAddress] without what is empty.
type factAddress struct {
	Kind string `yaml:"kind"`
	Name string `yaml:"name"`
	IPv4 string `yaml:"ipv4,omitempty"`
	IPv6 string `yaml:"ipv6,omitempty"`
}
