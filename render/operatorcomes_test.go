package render

import "testing"

// A Flux that runs is to wait while its operator takes it over: a render says so where
// the tree had Flux and no operator, and nowhere else.
func TestOperatorComes(t *testing.T) {
	const own, root, operator = "flux/manifests.yaml", "flux/components.yaml", "bootstrap/flux/manifests.yaml"
	for name, tt := range map[string]struct {
		before, now []string
		want        bool
	}{
		"from Flux itself":   {[]string{root, own}, []string{operator, root, own}, true},
		"from one elsewhere": {[]string{own}, []string{operator, root, own}, true},
		"a new tree":         {nil, []string{operator, root, own}, false},
		"a first Flux":       {[]string{"bootstrap/hcloud-ccm/manifests.yaml"}, []string{operator, root, own}, false},
		"as it was":          {[]string{operator, root, own}, []string{operator, root, own}, false},
		"still Flux itself":  {[]string{root, own}, []string{root, own}, false},
	} {
		if p := operatorComes(tt.before, tt.now); (p != nil) != tt.want {
			t.Errorf("%s: %v", name, p)
		}
	}
}
