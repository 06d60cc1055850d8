package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

// answers serves texts by the request's method and URI; what is not there is not
// found.
func answers(t *testing.T, texts map[string]string) *project {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := texts[r.Method+" "+r.URL.RequestURI()]
		if !found {
			http.Error(w, "no "+r.URL.RequestURI(), http.StatusNotFound)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return &project{endpoint: server.URL, client: server.Client(), sleep: func(context.Context, time.Duration) error { return nil }}
}

const lastPage = `"meta": {"pagination": {"next_page": null}}`

// empty are the answers of a project without anything.
func empty() map[string]string {
	texts := map[string]string{}
	for _, k := range kinds() {
		texts["GET /"+k.path+"?per_page=50&page=1"] = `{"` + k.path + `": [], ` + lastPage + `}`
	}
	texts["GET /images?type=snapshot&per_page=50&page=1"] = texts["GET /images?per_page=50&page=1"]
	return texts
}

// TestPages reads what is on a second page: a list that ends too early would
// take what is left for gone.
func TestPages(t *testing.T) {
	texts := empty()
	texts["GET /servers?per_page=50&page=1"] = `{"servers": [{"id": 1, "name": "a"}], "meta": {"pagination": {"next_page": 2}}}`
	texts["GET /servers?per_page=50&page=2"] = `{"servers": [{"id": 2, "name": "talosgen-e2e-tovacn-cafe-worker-1"}], ` + lastPage + `}`
	left, err := answers(t, texts).left(t.Context(), "talosgen-e2e-tovacn-cafe")
	if err != nil || len(left) != 1 || left[0].String() != "server 2 talosgen-e2e-tovacn-cafe-worker-1" {
		t.Error(left, err)
	}
}

// TestReadFails takes no failed read for an empty list.
func TestReadFails(t *testing.T) {
	texts := empty()
	delete(texts, "GET /networks?per_page=50&page=1")
	if left, err := answers(t, texts).left(t.Context(), "talosgen-e2e-tovacn-cafe"); err == nil {
		t.Error(left)
	}
}

// TestLimitIsWaitedFor repeats a request that came too early, and no other one.
func TestLimitIsWaitedFor(t *testing.T) {
	for status, want := range map[int]int{http.StatusTooManyRequests: 3, http.StatusConflict: 1} {
		calls, waits := 0, 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if calls++; calls < 3 {
				w.WriteHeader(status)
			}
		}))
		defer server.Close()
		p := &project{endpoint: server.URL, client: server.Client(), sleep: func(context.Context, time.Duration) error { waits++; return nil }}
		err := p.call(t.Context(), http.MethodDelete, "/servers/1", "", nil)
		if calls != want || waits != want-1 || (err == nil) != (want == 3) {
			t.Errorf("%d: %d calls, %d waits, %v", status, calls, waits, err)
		}
	}
}

func TestClusterNames(t *testing.T) {
	now := time.Date(2026, 11, 21, 19, 0, 0, 0, time.UTC)
	name := newClusterName(now, 0xa)
	if got := begun(name); !got.Equal(now) {
		t.Errorf("%s: begun at %v", name, got)
	}
	tests := []struct {
		name   string
		labels map[string]string
		want   string
	}{
		{name, nil, name},
		{name + "-apply-lock", nil, name},
		{"talosgen-image-v1-14-1", map[string]string{"talosgen.dev/cluster": name}, name},
		{"", map[string]string{"cluster": name}, name},
		{"", map[string]string{"note": "see " + name}, ""},
		{"my-" + name, nil, ""},
		{"talosgen-e2e", nil, ""},
		{"talosgen-e2e-prod", map[string]string{"cluster": "talosgen-e2e-prod"}, ""},
		{"talosgen-e2e-tovacn-database", nil, ""},
		{"", nil, ""},
	}
	for _, tt := range tests {
		if got := clusterOf(object{Name: tt.name, Labels: tt.labels}); got != tt.want {
			t.Errorf("%q %v: %q, want %q", tt.name, tt.labels, got, tt.want)
		}
	}
}

func TestCheapest(t *testing.T) {
	offered := func(name, arch string, memory int, prices ...string) string {
		var in, cost []string
		for _, p := range prices {
			location, rest, _ := strings.Cut(p, " ")
			price, gone, _ := strings.Cut(rest, " ")
			deprecation := "null"
			if gone == "deprecated" {
				deprecation = "{}"
			}
			in = append(in, fmt.Sprintf(`{"name": %q, "available": %v, "deprecation": %s}`, location, gone != "sold-out", deprecation))
			cost = append(cost, fmt.Sprintf(`{"location": %q, "price_monthly": {"gross": %q}}`, location, price))
		}
		return fmt.Sprintf(`{"name": %q, "architecture": %q, "memory": %d, "prices": [%s], "locations": [%s]}`,
			name, arch, memory, strings.Join(cost, ","), strings.Join(in, ","))
	}
	types := strings.Join([]string{
		offered("arm", "arm", 4, "hel1 1.0"),
		offered("tiny", "x86", 1, "hel1 1.0"),
		offered("gone", "x86", 4, "hel1 1.0 sold-out", "fsn1 1.0 deprecated"),
		offered("large", "x86", 16, "hel1 20.0", "fsn1 20.0"),
		offered("small", "x86", 4, "fsn1 4.1", "hel1 3.9"),
		offered("old", "x86", 2, "fsn1 4.0", "hel1 9.0"),
		offered("huge", "x86", 64, "hel1 90.0"),
	}, ",")
	p := answers(t, map[string]string{
		"GET /server_types?per_page=50&page=1":        `{"server_types": [` + types + `], ` + lastPage + `}`,
		"GET /locations?name=hel1&per_page=50&page=1": `{"locations": [{"network_zone": "eu-central"}], ` + lastPage + `}`,
	})
	got, err := p.cheapest(t.Context())
	if want := (place{"hel1", "eu-central", []string{"small", "old", "large"}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	nothing := answers(t, map[string]string{"GET /server_types?per_page=50&page=1": `{"server_types": [], ` + lastPage + `}`})
	if _, err := nothing.cheapest(t.Context()); err == nil {
		t.Error("a place, where nothing is offered")
	}
}

func TestPrice(t *testing.T) {
	tests := []struct{ plan, want string }{
		{`{"cost": {"currency": "EUR", "after": {"net": "6.98", "gross": "8.3062"}}}`, "8.3062 EUR <nil>"},
		{`{"cost": {"currency": "EUR", "after": {"gross": "8.31"}, "unknown": ["cx99 in fsn1"]}}`, "0  nobody knows what cx99 in fsn1 costs"},
		{`{"cost": {"currency": "EUR", "after": {}}}`, `0  the plan has no cost: strconv.ParseFloat: parsing "": invalid syntax`},
		{``, "0  the plan: unexpected end of JSON input"},
	}
	for _, tt := range tests {
		month, currency, err := price([]byte(tt.plan))
		if got := fmt.Sprint(month, " ", currency, " ", err); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.plan, got, tt.want)
		}
	}
}
