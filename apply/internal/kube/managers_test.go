package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// entriesOf reads managed fields as they are written here: "manager Apply a b", or
// "manager Update/status c" of a subresource; a lone "-" are no fields at all.
func entriesOf(t *testing.T, text string) (entries []metav1.ManagedFieldsEntry) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		operation, subresource, _ := strings.Cut(words[1], "/")
		e := metav1.ManagedFieldsEntry{Manager: words[0], Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource, APIVersion: "v1", FieldsType: "FieldsV1"}
		fields := map[string]any{}
		for _, name := range words[2:] {
			fields["f:"+name] = map[string]any{}
		}
		if len(words) > 2 && words[2] != "-" {
			raw, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			e.FieldsV1 = metav1.NewFieldsV1(string(raw))
		}
		entries = append(entries, e)
	}
	return entries
}

// textOf writes entries as [entriesOf] reads them.
func textOf(t *testing.T, entries []metav1.ManagedFieldsEntry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range entries {
		operation := string(e.Operation)
		if e.Subresource != "" {
			operation += "/" + e.Subresource
		}
		fmt.Fprintf(&b, "%s %s %s\n", e.Manager, operation, strings.Join(fieldsOf(t, e), " "))
	}
	return b.String()
}

func fieldsOf(t *testing.T, e metav1.ManagedFieldsEntry) (names []string) {
	t.Helper()
	if e.FieldsV1 == nil {
		return []string{"-"}
	}
	var fields map[string]any
	if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		names = append(names, strings.TrimPrefix(key, "f:"))
	}
	return names
}

func TestGiveFields(t *testing.T) {
	for _, test := range []struct{ name, entries, want string }{
		{"nobody has anything", "", ""},
		{"only others", "flux Apply a\nhpa Update b\n", ""},
		{"the first gets the name", "hpa Update x\nkubectl Update a\nhelm Apply a b\n", "hpa Update x\nflux Apply a b\n"},
		{"there is one already", "kubectl Update c\nflux Apply a\nhelm Apply b\n", "flux Apply a b c\n"},
		{"its own update is another", "flux Update c\nkubectl Update a\n", "flux Update c\nflux Apply a\n"},
		{"subresources stay", "kubectl Update/status s\nflux Apply/status t\nkubectl Apply a\n", "kubectl Update/status s\nflux Apply/status t\nflux Apply a\n"},
		{"only a subresource", "kubectl Update/status s\n", ""},
		{"no fields in one", "flux Apply -\nkubectl Update a\n", "flux Apply a\n"},
		{"no fields in the other", "flux Apply a\nkubectl Update -\n", "flux Apply a\n"},
		{"no fields in any", "kubectl Update -\nhelm Apply -\n", "flux Apply -\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := giveFields(entriesOf(t, test.entries), []string{"kubectl", "helm"}, "flux")
			if text := textOf(t, got); err != nil || text != test.want {
				t.Errorf("%v, got:\n%swant:\n%s", err, text, test.want)
			}
		})
	}
}

// TestGiveFieldsUnread: fields that cannot be read are not given away, and not lost.
func TestGiveFieldsUnread(t *testing.T) {
	entries := entriesOf(t, "flux Apply a\nkubectl Update b\n")
	entries[1].FieldsV1 = metav1.NewFieldsV1(`{"f:b": 1`)
	if got, err := giveFields(entries, []string{"kubectl"}, "flux"); err == nil || !strings.Contains(err.Error(), "fields of kubectl: ") {
		t.Errorf("%v, %v", got, err)
	}
}

// TestGiveFieldsLosesNothing takes entries by chance: each field has an owner afterwards
// as before, what others have is untouched, and who left has nothing.
func TestGiveFieldsLosesNothing(t *testing.T) {
	from := []string{"kubectl", "helm"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for _, manager := range []string{"helm", "hpa Update", "kubectl", "flux Apply", "kubectl Update/status"} {
			if !strings.Contains(manager, " ") {
				manager += []string{" Apply", " Update"}[r.IntN(2)]
			}
			if r.IntN(3) > 0 {
				fmt.Fprintf(&b, "%s %s\n", manager, strings.Join([]string{"a", "b", "c", "d"}[r.IntN(4):], " "))
			}
		}
		before := entriesOf(t, b.String())
		r.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
		text := textOf(t, before)
		after, err := giveFields(before, from, "flux")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		gives := slices.ContainsFunc(before, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "" && slices.Contains(from, e.Manager) })
		if gives != (after != nil) {
			t.Fatalf("seed %d: nothing is given of\n%s", seed, text)
		}
		if !gives {
			continue
		}
		if got, want := fieldsByManager(t, after, nil), fieldsByManager(t, before, from); got != want {
			t.Fatalf("seed %d: of\n%sbecame\n%s: %s, want %s", seed, text, textOf(t, after), got, want)
		}
	}
}

// fieldsByManager are the fields of each manager; those of managers that leave are Flux'.
func fieldsByManager(t *testing.T, entries []metav1.ManagedFieldsEntry, from []string) string {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, e := range entries {
		key := fmt.Sprint(e.Manager, e.Operation, e.Subresource)
		if e.Subresource == "" && slices.Contains(from, e.Manager) {
			key = "fluxApply"
		}
		if all[key] == nil {
			all[key] = map[string]bool{}
		}
		for _, name := range fieldsOf(t, e) {
			all[key][name] = true
		}
	}
	return fmt.Sprint(all)
}
