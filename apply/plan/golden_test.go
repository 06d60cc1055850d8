package plan_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/plantest"
	"github.com/talosgen/talosgen/schemas"
)

var update = flag.Bool("update", false, "write what plans look like into testdata")

// Each file in testdata/plans says what is desired and what there is, besides
// the catalogue of plantest, and how the plan looks that follows from it. Files
// that begin with destroy- are about Destroy.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := planOf(t, file, archive).String()
			if *update {
				archive.Files = append(sources(archive), txtar.File{Name: "plan", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := section(archive, "plan"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// The consents of a destroy: none for what is the cluster's own.
func TestDestroyConsents(t *testing.T) {
	const file = "testdata/plans/destroy-everything.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := map[plan.Key]plan.Consent{}
	for _, c := range planOf(t, file, archive).Changes {
		got[c.Key] = c.Consent
	}
	for key, want := range map[plan.Key]plan.Consent{
		"firewall/prod": plan.NoConsent, "volume/pvc-1": plan.ConsentMade, "load-balancer/a1b2c3": plan.ConsentMade,
		"server/prod-worker-1": plan.ConsentUnlock, "network/prod": plan.ConsentUnlock,
	} {
		if is, found := got[key]; !found || is != want {
			t.Errorf("%s: %q, want %q", key, is, want)
		}
	}
}

// sources are the files of a case without the plan.
func sources(archive *txtar.Archive) []txtar.File {
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name != "plan" {
			files = append(files, f)
		}
	}
	return files
}

func section(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func planOf(t *testing.T, file string, archive *txtar.Archive) *plan.Plan {
	t.Helper()
	desired := schemas.Infrastructure{APIVersion: schemas.InfrastructureVersion, Cluster: "prod", Provider: schemas.Hetzner}
	observed, policy := plantest.Empty(), plan.Policy{}
	decode(t, archive, "desired", &desired)
	decode(t, archive, "observed", &observed)
	decode(t, archive, "policy", &policy)
	if section(archive, "observed") != "" && len(observed.Images) < 2 {
		observed.Images = append(observed.Images, plantest.Empty().Images...)
	}
	run := plan.Make
	if strings.HasPrefix(filepath.Base(file), "destroy-") {
		run = plan.Destroy
	}
	p, err := run(desired, observed, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// decode reads a section strictly, if there is one.
func decode(t *testing.T, archive *txtar.Archive, name string, into any) {
	t.Helper()
	text := section(archive, name)
	if strings.TrimSpace(text) == "" {
		return
	}
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
