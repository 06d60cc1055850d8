package chartfetch

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseDockerConfig(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("user:pass:word"))
	found, helpers, err := ParseDockerConfig([]byte(`{
		"auths": {
			"ghcr.io": {"auth": "` + encoded + `"},
			"https://index.docker.io/v1/": {"username": "hub", "password": "secret"},
			"stored.example.com:5000": {}
		},
		"credsStore": "desktop", "credHelpers": {"gcr.io": "gcloud"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"ghcr.io": "user pass:word", "registry-1.docker.io": "hub secret"} {
		if got := found[host].User + " " + found[host].Password.Reveal(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	if !slices.Equal(helpers, []string{"gcr.io", "stored.example.com:5000"}) || len(found) != 2 {
		t.Errorf("%v %v", found, helpers)
	}
	if text := fmt.Sprintf("%v %+v %#v", found, found, found); strings.Contains(text, "pass:word") {
		t.Errorf("the password is printed: %s", text)
	}
	for _, bad := range []string{`{"auths": {"a": {"auth": "canary"}}}`, `{"auths": {"a": {"auth": "Y2FuYXJ5"}}}`, `canary`} {
		if _, _, err := ParseDockerConfig([]byte(bad)); err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "Y2Fu") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestParseNetrc(t *testing.T) {
	found := ParseNetrc([]byte("machine charts.example.com login user password pass\n\nmachine b.example.com\n  password two\n  login second\nmachine c login only\ndefault login x password y\n"))
	for host, want := range map[string]string{"charts.example.com": "user pass", "b.example.com": "second two"} {
		if got := found[host].User + " " + found[host].Password.Reveal(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	if len(found) != 2 {
		t.Errorf("%v", found)
	}
	found.Merge(Credentials{"charts.example.com": {User: "other"}, "new": {User: "new"}})
	if found["charts.example.com"].User != "user" || found["new"].User != "new" {
		t.Errorf("%v", found)
	}
}
