package kubeenv

import (
	"slices"
	"strings"
	"testing"
)

// helmTakeovers are the rows of helm-controller, which adopts what is there.
var helmTakeovers = []takeover{
	{name: "helm-talosgen", first: applyAs(ours), managers: []string{"helm-controller", ours}, stays: everything},
	{name: "helm-own", first: applyAs("helm-controller"), managers: []string{"helm-controller"}},
}

func (r row) chart() string { return "charts/" + string(r) }

func (r row) helmRelease() string {
	return `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: ` + string(r) +
		`, namespace: ` + FluxNamespace + `}, spec: {interval: 1h, chart: {spec: {chart: ./` + r.chart() +
		`, reconcileStrategy: Revision, sourceRef: {kind: GitRepository, name: takeover-helm}}}}}`
}

// installed is the condition that a release is of a commit, whose begin is in
// the version of the chart.
func installed(commit string) func(Object) bool {
	return func(o Object) bool {
		_, build, _ := strings.Cut(o.Text("status", "lastAttemptedRevision"), "+")

		return Ready(o) && build != "" && strings.HasPrefix(commit, build)
	}
}

// TestTakeoverHelm is the same as TestTakeover, with charts in the repository.
func TestTakeoverHelm(t *testing.T) {
	t.Parallel()

	c, g := Start(t, WithFlux()), NewGit(t)
	files := map[string]string{}

	for _, test := range helmTakeovers {
		r := row(test.name)
		files[r.chart()+"/Chart.yaml"] = "apiVersion: v2\nname: " + test.name + "\nversion: 0.1.0\n"
		files[r.chart()+"/templates/objects.yaml"] = r.objects("data", true, "")

		c.Apply(t, "test", false, "{apiVersion: v1, kind: Namespace, metadata: {name: "+r.namespace()+"}}")
		test.first(t, c, r)
	}

	commit := g.Commit(t, files)
	c.Apply(t, "test", false, source("takeover-helm", g))

	for _, test := range helmTakeovers {
		c.Apply(t, "test", false, row(test.name).helmRelease())
	}

	for _, test := range helmTakeovers {
		r := row(test.name)
		c.WaitFor(t, c.Path(t, r.helmRelease()), installed(commit), within)

		for _, object := range r.live(t, c) {
			if want := appliers(test.managers); !slices.Equal(object.Managers(), want) {
				t.Errorf("%s: the managers of %s are %q, want %q", test.name, object.Text("kind"), object.Managers(), want)
			}
		}

		if left := r.left(t, c); !slices.Equal(left, everything) {
			t.Errorf("%s: there is only %q before anything was removed", test.name, left)
		}

		files[r.chart()+"/templates/objects.yaml"] = r.objects("data", false, "")
	}

	commit = g.Commit(t, files)
	c.Reconcile(t, c.Path(t, source("takeover-helm", g)))

	for _, test := range helmTakeovers {
		r := row(test.name)
		c.WaitFor(t, c.Path(t, r.helmRelease()), installed(commit), within)

		if left := r.left(t, c); !slices.Equal(left, test.stays) {
			t.Errorf("%s: %q stays, want %q", test.name, left, test.stays)
		}
	}
}
