package main

import (
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

func TestProjectLimits(t *testing.T) {
	got, err := projectLimits([]string{"servers=5", "cores=8", "primary-ips=3", "cores=9"})
	if want := (hetznersim.Limits{Servers: 5, Cores: 9, PrimaryIPs: 3}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "cores", "cores=", "cores=0", "cores=-1", "cores=x", "planets=8", "=8"} {
		if _, err := projectLimits([]string{text}); diag.CodeOf(err) != diag.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
