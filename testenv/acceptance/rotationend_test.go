//go:build linux

package acceptance

import (
	"context"
	"crypto/tls"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// refuses wants files of before to be good for nothing: no server is trusted any more, and
// who trusts the servers nevertheless is not let in.
func (r *rotating) refuses(old access) {
	r.t.Helper()
	now := r.access()
	open := access{"of before, with the authorities of now", with(old.kubernetes, now.kubernetes), with(old.talos, now.talos)}
	for _, n := range r.bed.Nodes() {
		r.refusal(n.Name+": Talos", old.askTalos(r.t.Context(), r.bed, n), "certificate signed by unknown authority")
		r.refusal(n.Name+": Talos", open.askTalos(r.t.Context(), r.bed, n), "") // the node hangs up
		if err := now.askTalos(r.t.Context(), r.bed, n); err != nil {
			r.t.Errorf("%s: who has the new files is refused: %v", n.Name, err)
		}
	}
	for _, n := range r.bed.ControlPlanes {
		r.refusal(n.Name+": Kubernetes", old.askKubernetes(r.t.Context(), r.bed, n), "certificate signed by unknown authority")
		r.refusal(n.Name+": Kubernetes", open.askKubernetes(r.t.Context(), r.bed, n), "401 Unauthorized")
		if err := now.askKubernetes(r.t.Context(), r.bed, n); err != nil {
			r.t.Errorf("%s: who has the new files is refused: %v", n.Name, err)
		}
	}
}

// with is a client that trusts what another one does.
func with(client, trust *tls.Config) *tls.Config {
	both := client.Clone()
	both.RootCAs = trust.RootCAs
	return both
}

func (r *rotating) refusal(who string, err error, want string) {
	r.t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		r.t.Errorf("%s: files of before: %v, want %s", who, err, want)
	}
}

// joinToken is the id of the bootstrap token in Git.
func (r *rotating) joinToken() string {
	r.t.Helper()
	var config struct {
		Cluster struct {
			Token string `yaml:"token"`
		} `yaml:"cluster"`
	}
	if err := yaml.NewDecoder(strings.NewReader(string(r.repository.MachineConfig(r.bed.Workers[0])))).Decode(&config); err != nil {
		r.t.Fatal(err)
	}
	id, _, _ := strings.Cut(config.Cluster.Token, ".")
	return id
}

// rotatedByTalosctl has the other tool rotate both authorities.
func rotatedByTalosctl(t *testing.T) map[string]string {
	r, line := newRotating(t, 1)
	before := r.settings(r.client())
	file := filepath.Join(t.TempDir(), "talosconfig")
	line.take("talosctl rotate-ca", func() {
		node := r.bed.ControlPlanes[0]
		output, err := r.client().Run(t.Context(), node, "rotate-ca", "--dry-run=false", "--output", file, "--with-docs=false", "--with-examples=false",
			"--control-plane-nodes", node.Address.String(), "--worker-nodes", r.bed.Workers[0].Address.String())
		t.Logf("$ talosctl rotate-ca\n%s", output)
		if err != nil {
			t.Fatal(err)
		}
	})
	line.print()
	return before.changed(r.settings(r.bed.ClientOf(t, file)))
}

// client is talosctl with the authority that Git has.
func (r *rotating) client() *talosenv.Client {
	return r.bed.NewClient(r.t, r.repository.MachineConfig(r.bed.ControlPlanes[0]))
}

// settings are all values of the configurations of the first nodes of each role.
func (r *rotating) settings(client *talosenv.Client) state {
	r.t.Helper()
	s := state{}
	for _, n := range []*talosenv.Node{r.bed.ControlPlanes[0], r.bed.Workers[0]} {
		text, err := client.Run(context.WithoutCancel(r.t.Context()), n, "get", "machineconfig", "v1alpha1", "-o", "jsonpath={.spec}")
		if err == nil {
			err = s.configuration(n, text)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return s
}

// certificate is one that stands in a list of texts.
var certificate = regexp.MustCompile(`(?s)\{-----BEGIN.*\}`)

// changed are the places whose values differ in a later state, and how: a value is
// another one, is there no more, or is new.
func (s state) changed(later state) map[string]string {
	how := map[string]string{}
	for place := range s.changes(later) {
		_, was := s[place]
		_, is := later[place]
		how[certificate.ReplaceAllString(place, "{a certificate}")] += map[[2]bool]string{{true, true}: "another ", {true, false}: "gone ", {false, true}: "new "}[[2]bool{was, is}]
	}
	for place, text := range how {
		words := strings.Fields(text)
		slices.Sort(words)
		how[place] = strings.Join(words, " ")
	}
	return how
}

// sameFields wants two rotations of both authorities to have changed the same.
func sameFields(t *testing.T, byTalosgen, byTalosctl map[string]string) {
	t.Helper()
	const least = 4
	if len(byTalosctl) < least {
		t.Errorf("talosctl has changed %v only", byTalosctl)
	}
	if !maps.Equal(byTalosgen, byTalosctl) {
		t.Errorf("talosgen has changed %v,\ntalosctl %v", byTalosgen, byTalosctl)
	}
	t.Logf("both have changed: %v", byTalosctl)
}
