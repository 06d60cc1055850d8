// Package generate makes repositories of clusters as strangers have them: random,
// but valid. What a test says of the shipped examples it can so say of any
// cluster. The same seed gives the same repository, and each thing in it can be
// left out by name, so that a case that fails shrinks to what it fails of.
package generate

import (
	"fmt"
	"maps"
	"slices"
)

// Options say which repository is made.
type Options struct {
	Seed uint64
	// The features that are left out, by their names; see [Repository.Features].
	Without map[string]bool
	// The private age key of an example, for environments that name one.
	ExampleKey string
}

// Repository is what somebody has in Git before the first render, but for what
// is encrypted.
type Repository struct {
	Seed uint64
	// The files by their paths, without secrets.sops.yaml.
	Files        map[string]string
	Environments []Environment
	// What was decided otherwise than in the simplest case, sorted.
	Features []string
	// What was left out.
	Without map[string]bool
}

// Environment is one of a repository.
type Environment struct {
	Name    string
	Cluster string
	// Provider of its nodes, and the minor version of its contract with Talos.
	Provider string
	Contract int
	Workers  bool // there are some
	// Whether it comes to an end by itself: pods find a network, without which
	// nothing that waits for them is ever ready, and whoever applies may do so from
	// an IPv4 address.
	Settles bool
	// The secret variables that secrets.sops.yaml must have.
	Secrets map[string]string
}

// New makes the repository of a seed.
func New(o Options) Repository {
	r := Repository{Seed: o.Seed, Files: map[string]string{}, Without: o.Without}
	d := &draws{seed: o.Seed, without: o.Without, used: map[string]bool{}}
	names := map[string]bool{}
	for n := range d.number("environments", 1, 3) {
		at := fmt.Sprintf("env%d", n)
		name := d.name(at+".directory", 20)
		if names[name] {
			continue
		}
		names[name] = true
		e := &environment{draws: d, at: at, key: o.ExampleKey, files: r.Files, Environment: Environment{Name: name, Secrets: map[string]string{}}}
		e.make()
		r.Environments = append(r.Environments, e.Environment)
	}
	sharedPatches(d, r)
	r.Features = slices.Sorted(maps.Keys(d.used))
	return r
}
