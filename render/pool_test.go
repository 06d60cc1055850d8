package render_test

import (
	"context"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/nodepools"
)

// A change of pools is rendered before it is written, and what is rendered is
// what the written file gives.
func TestPoolChangeIsRenderedBeforeItIsWritten(t *testing.T) {
	const file = "envs/dev/cluster.yaml"
	root := copySources(t, shipped)
	r := open(t, root, nil)
	before := readFile(t, root, file)
	change, err := nodepools.Scale(r, "dev", "worker", 3)
	if err != nil {
		t.Fatal(err)
	}
	res, err := change.Render(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if change.File != file || string(change.Before) != before || readFile(t, root, file) != before {
		t.Errorf("%s was changed before it was written", change.File)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	if readFile(t, root, file) != string(change.After) {
		t.Error("something else was written")
	}
	if _, err := r.Write(res); err != nil {
		t.Fatal(err)
	}
	if fresh, err := r.Fresh(context.Background(), "dev"); err != nil || !fresh {
		t.Errorf("the tree is not that of the written file: %v", err)
	}
}

// What somebody else writes meanwhile is not lost.
func TestPoolChangeOfAChangedFile(t *testing.T) {
	const file = "envs/dev/cluster.yaml"
	root := copySources(t, shipped)
	change, err := nodepools.Scale(open(t, root, nil), "dev", "worker", 3)
	if err != nil {
		t.Fatal(err)
	}
	other := readFile(t, root, file) + "# somebody else\n"
	writeFile(t, root, file, other)
	if err := change.Write(); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("got %v", err)
	}
	if readFile(t, root, file) != other {
		t.Error("what somebody else wrote is gone")
	}
}

// Secret variables have no place in cluster.yaml, and no value is needed to say
// so: pools are changed without keys.
func TestPoolsWithoutKeys(t *testing.T) {
	root := copySources(t, shipped)
	writeFile(t, root, "envs/prod/secrets.sops.yaml", "variables:\n  POOL: ENC[AES256_GCM,data:x,type:str]\n")
	r := open(t, root, nil)
	pools, err := nodepools.List(r, "prod")
	if err != nil || len(pools) < 3 || pools[0].Name != "control-plane" || pools[0].Nodes[0].Address == "" {
		t.Errorf("pools %+v, error %v", pools, err)
	}
	text := readFile(t, root, "envs/prod/cluster.yaml")
	writeFile(t, root, "envs/prod/cluster.yaml", strings.Replace(text, "- name: worker", "- name: ${POOL}", 1))
	if _, err := nodepools.Add(r, "prod", nodepools.New{Name: "db", Type: "cpx22"}); err == nil || !strings.Contains(err.Error(), "a secret variable in cluster.yaml") {
		t.Errorf("got %v", err)
	}
}
