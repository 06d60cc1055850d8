//go:build linux

package cloudenv

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// kinds are what a cluster consists of. Snapshots and SSH keys belong to none.
var kinds = []string{
	"servers", "load_balancers", "networks", "firewalls", "placement_groups", "primary_ips", "floating_ips", "volumes",
}

// Objects are what a project has of clusters, each as kind/name.
func (p *Project) Objects(t testing.TB) (found []string) {
	t.Helper()

	for _, kind := range kinds {
		var answer map[string]json.RawMessage

		p.call(t, http.MethodGet, "/"+kind, "", http.StatusOK, &answer)

		var objects []struct {
			Name string `json:"name"`
		}

		if err := json.Unmarshal(answer[kind], &objects); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}

		for _, o := range objects {
			found = append(found, kind+"/"+o.Name)
		}
	}

	return found
}

// addKey makes the users' key known to the project.
func (p *Project) addKey(t testing.TB, public string) {
	t.Helper()
	p.call(t, http.MethodPost, "/ssh_keys", fmt.Sprintf(`{"name": %q, "public_key": %q}`, SSHKey, public), http.StatusCreated, new(any))
}

// call makes a request, which has to be answered with a status.
func (p *Project) call(t testing.TB, method, path, body string, status int, to any) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, p.Endpoint+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	request.Header.Set("Authorization", "Bearer "+p.Sim.Token())
	request.Header.Set("Content-Type", "application/json")

	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	if answer.StatusCode != status {
		t.Fatalf("%s %s: %s", method, path, answer.Status)
	}

	if err := json.NewDecoder(answer.Body).Decode(to); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}
