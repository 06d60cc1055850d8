package apply

import (
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/versions"
)

// SupportStatus is until when a version that runs gets patches from its project. That it
// does no more is no difference from Git.
type SupportStatus struct {
	Program string `json:"program"`
	Version string `json:"version"`
	// The day on which it ends, if it is known, and whether it has.
	Ends  string `json:"ends,omitempty"`
	Ended bool   `json:"ended"`
	Text  string `json:"text"`
}

// support tells of the versions that run: that of the Kubernetes API, and those of Talos.
func (s *Status) support(now time.Time) {
	add := func(program, version string, of versions.Support) {
		s.Support = append(s.Support, SupportStatus{Program: program, Version: version, Ends: of.Ends, Ended: of.Ended, Text: of.Text})
	}
	if s.Version != "" {
		add(kubernetesProgram, s.Version, versions.KubernetesSupport(s.Version, now))
	}
	var run []string
	for _, n := range s.Nodes {
		if n.Registered && strings.HasPrefix(n.Talos, "v") && !slices.Contains(run, n.Talos) {
			run = append(run, n.Talos)
		}
	}
	slices.Sort(run)
	for _, version := range run {
		add(talosProgram, version, versions.TalosSupport(version))
	}
}
