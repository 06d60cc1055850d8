package upgrade_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

// TestBefore: what is noted is read again, and what nobody has noted is an error.
func TestBefore(t *testing.T) {
	for _, b := range []upgrade.Before{
		{From: upgrade.System{Version: "1.13.9", Schematic: "1111"}, To: upgrade.System{Version: "1.14.1", Schematic: "2222"}},
		{From: upgrade.System{Version: "1.13.9"}, To: upgrade.System{Version: "1.14.0-rc.1"}, Back: true},
	} {
		if read, err := upgrade.ParseBefore(b.String()); err != nil || *read != b {
			t.Errorf("%s: %v, %v", b, read, err)
		}
	}
	for _, text := range []string{"", "1.13.9 - 1.14.1", "1.13.9 - 1.14.1 - forth", "v1.13.9 - 1.14.1 -", "1.13.9 \x1b[31m 1.14.1 -", "1.13.9 - latest -", "1.13.9 - 1.14.1 - back back"} {
		if b, err := upgrade.ParseBefore(text); err == nil {
			t.Errorf("%q is %v", text, b)
		}
	}
	if _, err := upgrade.ParseMark("installed 1.14\x1b[1 - boot=b try=1 run=r"); err == nil {
		t.Error("a mark with what no version has is read")
	}
}

// FuzzBefore: what is read is written as it was.
func FuzzBefore(f *testing.F) {
	f.Add("1.13.9 1111 1.14.1 2222 back")
	f.Add("1.13.9 - 1.14.1 -")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := upgrade.ParseBefore(text)
		if err != nil {
			return
		}
		if again, err := upgrade.ParseBefore(b.String()); err != nil || *again != *b {
			t.Errorf("%q is %v, and %v when it is written again: %v", text, b, again, err)
		}
	})
}
