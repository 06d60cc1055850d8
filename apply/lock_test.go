package apply

import (
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	s := b.connect()
	if h, err := s.Holder(t.Context()); h != nil || err != nil {
		t.Fatalf("held by %+v (%v)", h, err)
	}
	err := b.connect().lock.locked(t.Context(), Owner{Name: "ann@desk", Run: "1"}, func() error {
		h, err := s.Holder(t.Context())
		if err != nil || h == nil || !strings.HasPrefix(h.Owner, "ann") {
			t.Errorf("held by %+v (%v)", h, err)
		}
		_, err = s.Unlock(t.Context())
		return err
	})
	if h, again := s.Holder(t.Context()); err != nil || h != nil || again != nil {
		t.Errorf("released with %v; held by %+v (%v)", err, h, again)
	}
}
