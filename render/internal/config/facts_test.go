package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// Whatever stands in facts.yaml, it is read or refused with its place.
func FuzzLoadFacts(f *testing.F) {
	f.Add("apiVersion: talosgen.dev/v1alpha1\naddresses: [{kind: loadBalancer, name: a, ipv4: 203.0.113.7, ipv6: '2001:db8::7'}]\n")
	f.Add("addresses: &a [*a]\n")
	f.Add("apiVersion: talosgen.dev/v1alpha1\nnodes: [{name: a}, {name: b, sentTo: cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k=}]\n")
	f.Add("apiVersion: x\naddresses: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := LoadFacts("envs/dev/facts.yaml", []byte(text))
		var p *diag.Problem
		var list diag.List
		switch {
		case err == nil && len(facts.Addresses)+len(facts.Nodes) == 0:
			t.Error("facts without addresses and nodes")
		case err != nil && !errors.As(err, &p) && !errors.As(err, &list):
			t.Errorf("not a problem: %v", err)
		case err != nil && !strings.Contains(err.Error(), "envs/dev/facts.yaml"):
			t.Errorf("without a place: %v", err)
		}
	})
}
