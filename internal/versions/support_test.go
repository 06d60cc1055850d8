package versions

import (
	"fmt"
	"testing"
	"time"
)

func TestKubernetesSupport(t *testing.T) {
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, tt := range []struct {
		version, now, want string
		ended              bool
	}{
		{"v1.36.3", "2026-11-26", "until 2027-06-28", false},
		{"1.36.3", "2027-06-28", "until 2027-06-28", false},
		{"v1.36.3", "2027-06-29", "ended on 2027-06-28", true},
		{"v1.33.0", "2026-11-26", "ended on 2026-06-28", true},
		{"v1.20.0", "2026-11-26", "ended before 2025-02-28", true},
		{"v1.37.0", "2026-11-26", "not known: this talosgen knows up to 1.36, as of 2026-08-22", false},
		{"v2.0.0", "2026-11-26", "not known: this talosgen knows up to 1.36, as of 2026-08-22", false},
		{"", "2026-11-26", "not known: this talosgen knows up to 1.36, as of 2026-08-22", false},
	} {
		if got := KubernetesSupport(tt.version, day(tt.now)); got.Text != tt.want || got.Ended != tt.ended {
			t.Errorf("%q on %s: %+v", tt.version, tt.now, got)
		}
	}
}

func TestTalosSupport(t *testing.T) {
	newest := Newest().Minor
	for version, want := range map[string]Support{
		Newest().Talos:                       {Text: fmt.Sprintf("until 1.%d is released", newest+1)},
		fmt.Sprintf("v1.%d.3", newest-1):     {Ended: true, Text: fmt.Sprintf("ended when 1.%d was released", newest)},
		"v1.2.0":                             {Ended: true, Text: "ended when 1.3 was released"},
		fmt.Sprintf("v1.%d.0", newest+1):     {Text: fmt.Sprintf("not known: this talosgen knows up to 1.%d", newest)},
		"v2.0.0":                             {Text: fmt.Sprintf("not known: this talosgen knows up to 1.%d", newest)},
		"somebody's own Talos without a tag": {Text: fmt.Sprintf("not known: this talosgen knows up to 1.%d", newest)},
	} {
		if got := TalosSupport(version); got != want {
			t.Errorf("%q: %+v", version, got)
		}
	}
}

// TestSupportTable: dates are dates, one after the other, and the table was read after
// the first of them.
func TestSupportTable(t *testing.T) {
	before := ""
	for minor := 29; minor < 29+len(kubernetesEnds); minor++ {
		ends := kubernetesEnds[minor]
		if _, err := time.Parse(time.DateOnly, ends); err != nil || ends <= before {
			t.Errorf("1.%d: %q after %q", minor, ends, before)
		}
		before = ends
	}
}
