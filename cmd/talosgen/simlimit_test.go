package main

import (
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

func TestProjectLimits(t *testing.T) {
	got, requests, err := projectLimits([]string{"servers=5", "cores=8", "primary-ips=3", "cores=9", "requests=100"})
	if want := (hetznersim.Limits{Servers: 5, Cores: 9, PrimaryIPs: 3}); err != nil || got != want || requests != 100 {
		t.Errorf("%+v, %d, %v", got, requests, err)
	}
	for _, text := range []string{"", "cores", "cores=", "cores=0", "cores=-1", "cores=x", "planets=8", "=8", "requests=0"} {
		if _, _, err := projectLimits([]string{text}); diag.CodeOf(err) != diag.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
