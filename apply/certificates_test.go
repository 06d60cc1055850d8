package apply

import (
	"testing"
	"time"
)

// Authorities are to be valid for a month; what Talos renews by itself, for a
// quarter of its life.
func TestCertificatesSoon(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name       string
		life, left time.Duration
		renews     bool
		want       bool
	}{
		{"an authority of ten years", 3650 * day, 31 * day, false, false},
		{"its last month", 3650 * day, 29 * day, false, true},
		{"an authority of a day", day, day, false, true},
		{"the API server, before it is renewed", 365 * day, 200 * day, true, false},
		{"nobody renewed it", 365 * day, 20 * day, true, true},
		{"the Talos API lives a day", day, 12 * time.Hour, true, false},
		{"nobody renewed that", day, 5 * time.Hour, true, true},
		{"over", day, -time.Hour, true, true},
	} {
		c := CertificateStatus{Begins: now.Add(test.left - test.life), Expires: now.Add(test.left), renews: test.renews}
		if got := c.soon(now); got != test.want {
			t.Errorf("%s: soon %t, want %t", test.name, got, test.want)
		}
	}
}
