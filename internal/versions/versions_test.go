package versions

import (
	"fmt"
	"strings"
	"testing"
)

// TestReleases: the table has no gap, each line fits itself, and what follows is
// not older.
func TestReleases(t *testing.T) {
	for i, r := range Releases() {
		if r.Minor != Oldest().Minor+i {
			t.Errorf("line %d is Talos 1.%d", i, r.Minor)
		}
		if !strings.HasPrefix(r.Talos, r.Contract()+".") {
			t.Errorf("Talos 1.%d has the patch %s", r.Minor, r.Talos)
		}
		for _, kubernetes := range []string{r.Kubernetes, r.Start()} {
			if k := Minor(kubernetes); k < r.Oldest || k > r.Newest || strings.HasPrefix(kubernetes, "v") {
				t.Errorf("Talos 1.%d has Kubernetes %s, and runs 1.%d to 1.%d", r.Minor, kubernetes, r.Oldest, r.Newest)
			}
		}
		if Minor(r.Start()) > addonsNewest {
			t.Errorf("Talos 1.%d starts with Kubernetes %s, which not all addons have releases for", r.Minor, r.Start())
		}
		if r.Etcd[0] == "" {
			t.Errorf("the first patch of Talos 1.%d brings no etcd", r.Minor)
		}
		if i > 0 && r.Newest < releases[i-1].Newest {
			t.Errorf("Talos 1.%d runs older ones than the release before", r.Minor)
		}
	}
	if Minor(KubernetesKinds) != Newest().Newest {
		t.Errorf("kinds are those of Kubernetes %s, and Talos runs 1.%d", KubernetesKinds, Newest().Newest)
	}
}

// TestHistory: no release that is configured is left out.
func TestHistory(t *testing.T) {
	all := History()
	if got := all[len(all)-len(Releases())].Minor; got != Oldest().Minor {
		t.Errorf("the history of known releases begins with 1.%d", got)
	}
	if oldest := all[0].Contract(); oldest == Oldest().Contract() {
		t.Errorf("nothing is upgraded to %s", oldest)
	}
}

func TestOf(t *testing.T) {
	newest := Newest()
	next := newest.Minor + 1
	for _, tt := range []struct {
		talos        string
		minor        int
		known, newer bool
	}{
		{newest.Talos, newest.Minor, true, false},
		{strings.TrimPrefix(newest.Talos, "v"), newest.Minor, true, false},
		{newest.Contract(), newest.Minor, true, false},
		{fmt.Sprintf("v1.%d.0-alpha.0", newest.Minor), newest.Minor, true, false},
		{fmt.Sprintf("v1.%d.0", next), newest.Minor, false, true},
		{fmt.Sprintf("1.%d.3-beta.1", next), newest.Minor, false, true},
		{Oldest().Talos, Oldest().Minor, true, false},
		{"v1.2.3", Oldest().Minor, false, false},
		{fmt.Sprintf("v2.%d.0", newest.Minor), Oldest().Minor, false, false},
		{fmt.Sprintf("v2.%d.0", next), Oldest().Minor, false, false},
		{"v1.99999999999999999999.0", Oldest().Minor, false, false},
		{"", Oldest().Minor, false, false},
	} {
		r, known := Of(tt.talos)
		if r.Minor != tt.minor || known != tt.known || Newer(tt.talos) != tt.newer {
			t.Errorf("%q: release 1.%d, known %v, newer %v", tt.talos, r.Minor, known, Newer(tt.talos))
		}
	}
}

func TestFill(t *testing.T) {
	newest := Newest()
	for tag, want := range map[string]string{
		"plain":                                "plain",
		"<talos> <kubernetes>":                 newest.Talos + " " + newest.Start(),
		"<contract>":                           newest.Contract(),
		"<older contract>":                     fmt.Sprintf("v1.%d", newest.Minor-1),
		"registry.example.com/c:v<kubernetes>": "registry.example.com/c:v" + newest.Start(),
		"<other>":                              "<other>",
	} {
		if got := Fill(tag); got != want {
			t.Errorf("%q is filled as %q", tag, got)
		}
	}
}
