package machine

import (
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"
)

// TestEncodeMain: encoded by sections, with those of a lower layer or without,
// the main document has the text that the library gives it.
func TestEncodeMain(t *testing.T) {
	compared := 0
	check := func(name string, cfg *Config) {
		d := cfg.Document(MainID)
		if d == nil {
			return
		}
		want, err := yaml.Marshal(d.typed)
		if err != nil {
			t.Fatal(err)
		}
		compared++
		text, err := d.Text()
		if err != nil || string(text) != string(want) {
			t.Errorf("%s: it is\n%s\nnot\n%s (%v)", name, text, want, err)
		}
		anew, _, err := encodeMain(d.typed.(*v1alpha1.Config), nil)
		if err != nil || string(anew) != string(want) {
			t.Errorf("%s: anew it is\n%s\nnot\n%s (%v)", name, anew, want, err)
		}
	}
	for _, c := range oracleCases(t) {
		cfg := testBase(t, c.meta.Contract, c.meta.Role)
		check(c.name, cfg)
		for _, layer := range c.layers { // layer by layer, encoded in between
			next, _, err := runLayers(cfg, [][]byte{layer})
			if err != nil {
				break
			}
			cfg = next
			check(c.name, cfg)
		}
		if all, _, err := runLayers(testBase(t, c.meta.Contract, c.meta.Role), c.layers); err == nil {
			check(c.name, all)
		}
	}
	source := newComposeSource(t, 5)
	composer := NewComposer()
	for i := range 100 {
		c := source.next(t, i)
		if cfg, _, err := composer.Compose(c.base, c.options, c.patches); err == nil {
			check(c.String(), cfg)
		}
	}
	if compared < 300 {
		t.Errorf("only %d documents compared", compared)
	}
	for _, cfg := range []*v1alpha1.Config{{}, {MachineConfig: &v1alpha1.MachineConfig{}}, {ClusterConfig: &v1alpha1.ClusterConfig{}}} {
		want, err := yaml.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if have, _, err := encodeMain(cfg, nil); err != nil || string(have) != string(want) {
			t.Errorf("it is\n%s\nnot\n%s (%v)", have, want, err)
		}
	}
}
