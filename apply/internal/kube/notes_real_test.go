package kube

import (
	"maps"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// The notes and the inventory are of one ConfigMap, and neither is written over the
// other. Notes that cannot be read are not taken for none.
func TestNotes(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r, ctx := newRun(t, c), t.Context()
	wantNotes := func(want map[string]string) {
		t.Helper()
		got, err := r.client.Notes(ctx)
		delete(got, "about") // is the inventory's
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
	}
	write := func(notes map[string]string) {
		t.Helper()
		if err := r.client.WriteNotes(ctx, notes); err != nil {
			t.Fatal(err)
		}
		wantNotes(notes)
	}
	wantNotes(map[string]string{})
	write(map[string]string{"applied-commit": "1", "applied-seal": "2"})
	if ids, err := r.client.inventory().objects(ctx); err != nil || len(ids) > 0 {
		t.Errorf("the inventory: %v (%v)", ids, err)
	}
	id := manifest.ID{Kind: "ConfigMap", Namespace: "default", Name: "mine"}
	if err := r.client.inventory().note(ctx, []manifest.ID{id}); err != nil {
		t.Fatal(err)
	}
	wantNotes(map[string]string{"applied-commit": "1", "applied-seal": "2"})
	write(map[string]string{"applied-commit": "3", "applied-seal": ""})
	if ids, err := r.client.inventory().objects(ctx); err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("the inventory: %v (%v)", ids, err)
	}
	forget(t, c)

	nobody := r.asUser(c, time.Now().Add(time.Hour), "nobody")
	if notes, err := nobody.client.Notes(ctx); err == nil || notes != nil || diag.CodeOf(err) == 0 {
		t.Errorf("read by nobody: %v (%v)", notes, err)
	}
}
