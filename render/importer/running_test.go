package importer

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/versions"
)

// TestRunning: what nodes run is compared by its values. After a change documents may
// have another order, and an environment may look like anything.
func TestRunning(t *testing.T) {
	r, folder := repository(t), newest(t)
	var o Options
	for i, name := range []string{"cp", "worker"} {
		o.Running = append(o.Running, Running{
			Hostname: name, Address: []string{"192.0.2.1", "192.0.2.2"}[i], UUID: []string{"4c4c4544-0051-3010-8052-b4c04f4d3132", ""}[i],
			Talos: versions.Newest().Talos, Config: secret.New(string(folder[name+".yaml"].Data)),
		})
	}
	adopt := func() *Report {
		t.Helper()
		report, err := Import(context.Background(), r, "home", o)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if first := adopt(); !first.Written || first.Marked != "envs/home/cluster.yaml" || !strings.Contains(strings.Join(first.Notes, " "), "EDIT in "+first.Marked) {
		t.Errorf("of the worker nothing is known, and it is not marked: %+v", first)
	}
	for i := range o.Running {
		documents := strings.Split(strings.TrimSpace(o.Running[i].Config.Reveal()), "\n---\n")
		slices.Reverse(documents)
		o.Running[i].Config = secret.New(strings.Join(documents, "\n---\n") + "\n")
	}
	if again := adopt(); again.Written || again.Marked == "" || again.Values == 0 {
		t.Errorf("with documents in another order: %+v", again)
	}
	file := filepath.Join(r.Root(), "envs", "home", "cluster.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "# EDIT: mac, uuid or serial of the machine", "# it is in the cellar", 1)
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := adopt(); again.Written || again.Marked != "" {
		t.Errorf("without the mark: %+v", again)
	}
}
