package render_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExampleKey(t *testing.T) {
	root := copySources(t, shipped)
	r := open(t, root, nil)

	key, public, err := r.ExampleKey("dev")
	if err != nil || key == nil || key.Name != "envs/example.agekey" ||
		!slices.Equal(public, []string{"age1q50r0rahnfq4zhxk4ct3f4v08qj0lhfvq2ppxteuq2a9w6qrcq8sfnduva"}) {
		t.Errorf("key %v, public %q (%v)", key, public, err)
	}
	if key, _, err := r.ExampleKey("gone"); key != nil || err != nil {
		t.Errorf("of an environment that is gone: %v (%v)", key, err)
	}
	if _, _, err := r.ExampleKey("../dev"); err == nil {
		t.Error("a path is accepted")
	}

	if err := os.Remove(filepath.Join(root, "envs/example.agekey")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.ExampleKey("dev"); err == nil || !strings.Contains(err.Error(), "envs/example.agekey: the example key cannot be read") {
		t.Errorf("error %v", err)
	}
	writeFile(t, root, "envs/dev/cluster.yaml", "secrets: {}\n")
	if key, _, err := r.ExampleKey("dev"); key != nil || err != nil {
		t.Errorf("without one: %v (%v)", key, err)
	}
}
