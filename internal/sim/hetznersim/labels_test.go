package hetznersim

import (
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct {
		key, value string
		valid      bool
	}{
		{"env", "prod", true},
		{"just-a-key", "", true},
		{"example.com/my", "label", true},
		{long, long, true},
		{long + "a", "", false},
		{"k", long + "a", false},
		{"", "v", false},
		{"-k", "v", false},
		{"k", "v-", false},
		{"k", "a b", false},
		{"k", "a/b", false},
		{"hetzner.cloud/x", "v", false},
		{"hcloud/node-group", "workers", true},
		{"a/b/c", "v", false},
		{"-a/b", "v", false},
		{strings.Repeat("a.", 127) + "a/b", "v", false},
	} {
		if err := checkAllLabels(map[string]string{c.key: c.value}); (err == nil) != c.valid {
			t.Errorf("%q=%q: %v", c.key, c.value, err)
		}
	}
	if err := checkAllLabels(map[string]string{"b_": "", "a_": "", "ok": "yes"}); err == nil || !strings.Contains(err.Error(), "a_") {
		t.Errorf("not the first one: %v", err)
	}
}
