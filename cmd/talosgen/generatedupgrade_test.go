package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// talosVersion is that of Talos in a cluster.yaml that names it, up to its patch.
var talosVersion = regexp.MustCompile(`(?m)^talos:\n(?: +.*\n)*? +version: ["']?v1\.\d+\.(\d+)`)

// refusedFor are refusals that generated clusters ask for: images of an own registry are
// of another minor than the rest, or etcd has two members with an older Talos.
var refusedFor = regexp.MustCompile(`(?m)^  (R9  |R4  |R1  Talos v[0-9.]+ does not support Kubernetes )`)

// upgrade gives the sources of an environment that names its version of Talos the next
// patch: the nodes get it, if somebody agrees to what is risky, and then there is
// nothing to do.
func (s *generatedSite) upgrade() error {
	file := filepath.Join(s.dir, "envs", s.env.Name, "cluster.yaml")
	text, err := os.ReadFile(file)
	at := talosVersion.FindSubmatchIndex(text)
	if err != nil || at == nil {
		return err
	}
	patch, err := strconv.Atoi(string(text[at[2]:at[3]]))
	if err != nil {
		return err
	}
	newer := string(text[:at[2]]) + strconv.Itoa(patch+1) + string(text[at[3]:])
	if err := os.WriteFile(file, []byte(newer), 0o644); err != nil {
		return err
	}
	if err := s.must("render", s.env.Name); err != nil {
		return err
	}
	if s.infra, err = renderedInfrastructure(s.dir, s.env.Name); err != nil {
		return err
	}
	if err := s.stand(); err != nil {
		return err
	}
	if code, said := s.runIn(s.in, "upgrade", s.env.Name, "--allow-dirty", "--plan"); code == 1 && refusedFor.MatchString(said) {
		return nil
	}
	for _, command := range []string{"upgrade", "apply"} {
		if err := s.agreed(command, s.env.Name, "--allow-dirty", "--yes", "--max-parallel", "3"); err != nil {
			return err
		}
	}
	if err := s.want(0, "upgrade", s.env.Name, "--allow-dirty", "--plan"); err != nil {
		return err
	}
	return s.settled()
}
