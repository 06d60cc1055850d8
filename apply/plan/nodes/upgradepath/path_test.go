package upgradepath_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// state reads v1.13.9/1.36.3.
func state(text string) upgradepath.State {
	talos, kubernetes, _ := strings.Cut(text, "/")
	return upgradepath.State{Talos: talos, Kubernetes: kubernetes}
}

func TestPath(t *testing.T) {
	for _, c := range []struct{ now, want, path string }{
		{"v1.14.1/1.37.0", "v1.14.1/1.37.0", ""},
		{"v1.14.0/1.37.0", "v1.14.1/1.37.0", "talos v1.14.1"},
		{"v1.14.1/1.37.0", "v1.14.1/v1.37.1", "kubernetes 1.37.1"},
		{"v1.13.9/1.36.3", "v1.14.1/1.37.0", "talos v1.14.1 (etcd 3.7.1), kubernetes 1.37.0"},
		// Talos goes first, unless the next one does not support what runs.
		{"v1.13.9/1.31.4", "v1.14.1/1.32.4", "kubernetes 1.32.4, talos v1.14.1 (etcd 3.7.1)"},
		{"v1.11.6/1.31.4", "v1.14.1/1.37.1", "talos v1.12.11, talos v1.13.9, kubernetes 1.32.4, talos v1.14.1 (etcd 3.7.1), " +
			"kubernetes 1.33.6, kubernetes 1.34.1, kubernetes 1.35.4, kubernetes 1.36.3, kubernetes 1.37.1"},
		// Each minor of etcd has a floor for the members that are there.
		{"v1.13.0/1.36.0", "v1.14.1/1.36.0", "talos v1.13.9, talos v1.14.1 (etcd 3.7.1)"},
		{"v1.13.1/1.36.0", "v1.14.1/1.36.0", "talos v1.14.1 (etcd 3.7.1)"},
		{"v1.10.8/1.33.6", "v1.11.6/1.33.6", "talos v1.10.9, talos v1.11.6 (etcd 3.6.5)"},
		{"v1.10.9/1.33.6", "v1.11.0/1.33.6", "talos v1.11.0 (etcd 3.6.4)"},
		{"v1.12.0/1.35.0", "v1.13.9/1.35.0", "talos v1.13.9"},
		// A patch that is not known yet has at least the etcd of those that are.
		{"v1.13.42/1.36.0", "v1.14.1/1.36.0", "talos v1.14.1 (etcd 3.7.1)"},
		// A patch goes back; what runs may be unsupported already.
		{"v1.14.1/1.37.1", "v1.14.0/1.37.0", "talos v1.14.0, kubernetes 1.37.0"},
		{"v1.14.1/1.31.4", "v1.14.1/1.33.0", "kubernetes 1.32.4, kubernetes 1.33.0"},
		// What Git names may be newer than this talosgen.
		{"v1.14.1/1.37.0", "v1.15.0/1.38.0", "talos v1.15.0, kubernetes 1.38.0"},
	} {
		hops, err := upgradepath.Path(state(c.now), state(c.want))
		if err != nil {
			t.Errorf("%s -> %s: %v", c.now, c.want, err)
			continue
		}
		if path := text(hops); path != c.path {
			t.Errorf("%s -> %s:\n%s, expected\n%s", c.now, c.want, path, c.path)
		}
	}
}

func text(hops []upgradepath.Hop) string {
	var texts []string
	for _, h := range hops {
		text := h.String()
		if h.Etcd != "" {
			text += " (etcd " + h.Etcd + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func TestNoPath(t *testing.T) {
	for _, c := range []struct{ now, want, problem, hint string }{
		{"v1.14.1/1.37.0", "v1.13.9/1.37.0", "talos: the cluster runs v1.14.1, and Git has the older v1.13.9", "does not go back"},
		{"v1.14.1/1.37.0", "v1.14.1/1.36.4", "kubernetes: the cluster runs 1.37.0, and Git has the older 1.36.4", "snapshot of etcd"},
		{"v1.13.9/1.36.3", "v1.13.9/1.37.0", "kubernetes: Talos v1.13.9 does not support Kubernetes 1.37.0", "1.31 to 1.36"},
		{"v1.7.0/1.30.0", "v1.14.1/1.37.0", "talos: the cluster runs Talos v1.7.0, and no way from there is known", "Talos 1.8 first"},
		{"v1.13.9/1.36.3", "latest/1.36.3", `talos: "latest" is not a version`, "three numbers"},
		{"v1.13.9/", "v1.13.9/1.36.3", `kubernetes: "" is not a version`, "three numbers"},
	} {
		_, err := upgradepath.Path(state(c.now), state(c.want))
		if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s -> %s: %v", c.now, c.want, err)
		}
	}
}

// TestPathProperties walks between random states: each hop is at most a minor,
// each state on the way is supported, no member of etcd is below what its next
// peers need, and the way has no detour.
func TestPathProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 37))
	found := 0
	for range 20000 {
		now, want := random(r), random(r)
		hops, err := upgradepath.Path(now, want)
		if err != nil {
			continue
		}
		found++
		if problem := judge(now, want, hops); problem != "" {
			t.Fatalf("%v -> %v by %s: %s", now, want, text(hops), problem)
		}
	}
	if found < 1000 {
		t.Errorf("only %d ways were found", found)
	}
}

func random(r *rand.Rand) upgradepath.State {
	return upgradepath.State{Talos: fmt.Sprintf("v1.%d.%d", 8+r.IntN(7), r.IntN(12)), Kubernetes: fmt.Sprintf("1.%d.%d", 26+r.IntN(12), r.IntN(6))}
}

func judge(now, want upgradepath.State, hops []upgradepath.Hop) string {
	current := map[upgradepath.Component]semver.Version{}
	for c, v := range map[upgradepath.Component]string{upgradepath.Talos: now.Talos, upgradepath.Kubernetes: now.Kubernetes} {
		current[c], _ = semver.ParseTolerant(v)
	}
	seen := map[string]bool{}
	for _, h := range hops {
		from, to := semver.MustParse(h.From), semver.MustParse(h.To)
		etcd := upgradepath.Etcd(h.From)
		switch {
		case !from.EQ(current[h.Component]):
			return fmt.Sprintf("%s begins at %s", h, h.From)
		case to.Minor > from.Minor+1 || to.Minor < from.Minor:
			return fmt.Sprintf("%s moves more than a minor", h)
		case h.Component == upgradepath.Talos && h.Etcd != "" && !mayMix(etcd, h.Etcd):
			return fmt.Sprintf("%s mixes etcd %s with %s", h, etcd, h.Etcd)
		}
		moved := to.Minor != from.Minor
		current[h.Component] = to
		here := current[upgradepath.Talos].String() + "/" + current[upgradepath.Kubernetes].String()
		if supported, known := upgradepath.Supports(current[upgradepath.Talos].String(), current[upgradepath.Kubernetes].String()); moved && !supported && known {
			// A patch may stay with what is not supported already.
			return here + " is not supported"
		}
		if seen[here] {
			return here + " is met twice"
		}
		seen[here] = true
	}
	for c, v := range map[upgradepath.Component]string{upgradepath.Talos: want.Talos, upgradepath.Kubernetes: want.Kubernetes} {
		if goal, _ := semver.ParseTolerant(v); !goal.EQ(current[c]) {
			return fmt.Sprintf("it ends at %s %s", c, current[c])
		}
	}
	return ""
}

// mayMix is etcd's rule, told here once more.
func mayMix(member, next string) bool {
	m, n := semver.MustParse(member), semver.MustParse(next)
	floor := map[uint64]semver.Version{6: semver.MustParse("3.5.26"), 7: semver.MustParse("3.6.11")}[n.Minor]
	return m.Minor == n.Minor || m.Minor+1 == n.Minor && m.GE(floor)
}

func TestEtcd(t *testing.T) {
	for talos, etcd := range map[string]string{
		"v1.8.0": "3.5.16", "v1.10.8": "3.5.21", "v1.10.9": "3.5.26", "v1.12.7": "3.6.9", "v1.12.11": "3.6.11",
		"v1.13.0": "3.6.9", "v1.13.3": "3.6.11", "v1.13.9": "3.6.12", "v1.14.1": "3.7.1", "v1.15.0": "", "": "",
	} {
		if found := upgradepath.Etcd(talos); found != etcd {
			t.Errorf("etcd of Talos %s: %q, expected %q", talos, found, etcd)
		}
	}
}
