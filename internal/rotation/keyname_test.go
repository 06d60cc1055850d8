package rotation

import "testing"

func TestNextKeyName(t *testing.T) {
	for name, want := range map[string]string{
		FirstKeyName: "key3", "key9": "key10", "mine": "mine-2", "mine-2": "mine-3", "7": "8", "key99999999999999999999": "key99999999999999999999-2",
	} {
		if got := NextKeyName(name); got != want || !IsKeyName(got) {
			t.Errorf("after %s comes %s", name, got)
		}
	}
	for _, name := range []string{"", "a:b", "Key", "-a", "a\n"} {
		if IsKeyName(name) {
			t.Errorf("%q is a name", name)
		}
	}
}
