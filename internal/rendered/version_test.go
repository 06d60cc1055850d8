package rendered

import "testing"

func TestNewer(t *testing.T) {
	// In semantic version order; "v" and build metadata change nothing.
	ordered := []string{
		"0.9.9", "1.0.0-alpha", "v1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11+build.9", "1.0.0-rc.1", "1.0.0", "v1.0.1-0.20260102030405-abcdefabcdef", "1.0.1", "1.2.0+x", "1.10.0", "2.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := newer(a, b), i > j; got != want {
				t.Errorf("newer(%s, %s) = %v, want %v", a, b, got, want)
			}
		}
	}
	if newer("1.0.0+b", "1.0.0+a") || newer("v1.0.0", "1.0.0") {
		t.Error("build metadata or a leading v count")
	}
	for _, other := range []string{"dev", "(devel)", "", "1.0", "1.0.0.0", "1.x.0", "-1.0.0"} {
		if newer(other, "1.0.0") || newer("1.0.0", other) {
			t.Errorf("%q is ordered", other)
		}
	}
}
