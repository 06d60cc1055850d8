package talossim

import "testing"

// TestBootIDs: a machine that was found in another fleet is never in the same boot again,
// though fleets make the same ids: how many each has made before is luck.
func TestBootIDs(t *testing.T) {
	boots := func(f *Fleet, m *Machine) (ids []string) {
		for range 8 {
			f.change(byItself, func() { m.powerOff(); m.powerOn() })
			ids = append(ids, m.bootID)
		}
		return ids
	}
	first := New(Options{})
	known := boots(first, first.Add(Spec{Name: "cp-1", Installed: true}))
	for luck := range uint64(4) {
		for _, id := range known {
			f := New(Options{})
			f.given += luck
			if err := f.Stand(Found{Machines: []Standing{{Spec: Spec{Name: "cp-1", Installed: true}, BootID: id, Cut: true}}}, nil); err != nil {
				t.Fatal(err)
			}
			m := f.Machine("cp-1")
			if m.bootID != id {
				t.Errorf("it is in the boot %s, not %s", m.bootID, id)
			}
			for _, next := range boots(f, m) {
				if next == id {
					t.Errorf("it is in the boot %s again", id)
				}
			}
		}
	}
}
