package rotation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMark(t *testing.T) {
	for _, want := range []Trust{{Issues: "a"}, {"a", []string{"b"}}, {"b", []string{"a", "c"}}} {
		text := Mark(KubernetesCA, want)
		if kind, got, ok := readMark(text); !ok || kind != KubernetesCA || !got.Equal(want) {
			t.Errorf("%q: %v %v %v", text, kind, got, ok)
		}
	}
	for _, text := range []string{"", "talos-ca", "talos-ca=", "talos-ca=,a", "moon=a", "=a"} {
		if kind, got, ok := readMark(text); ok {
			t.Errorf("%q: %v %v", text, kind, got)
		}
	}
}

// TestDigestOf: a certificate has one digest, in base64 or not, with any line ends.
func TestDigestOf(t *testing.T) {
	const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	const encoded = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	if DigestOf(pem) != DigestOf(encoded) || DigestOf(pem) != DigestOf(" "+pem+"\r\n") || DigestOf(pem) == DigestOf("other") || DigestOf("") != "" {
		t.Errorf("%q, %q", DigestOf(pem), DigestOf(encoded))
	}
}

// TestComers: what may come counts, and what cannot be known is not taken for known.
func TestComers(t *testing.T) {
	old, accept, issue := Trust{Issues: "a"}, Trust{"a", []string{"b"}}, Trust{"b", []string{"a"}}
	group := func(t Trust) []Node { return []Node{{Name: "a new server of g", Trust: &t}} }
	pod := func(mark string) []Pod { return []Pod{{"p", mark}} }
	const servers = "a server that pod p makes "
	for _, tt := range []struct {
		name       string
		has, wants Trust
		seen       Autoscaler
		want       string
	}{
		{"nothing", accept, issue, Autoscaler{}, ""},
		{"all have it", accept, issue, Autoscaler{Groups: group(accept), Pods: pod(Mark(TalosCA, accept))}, ""},
		{"the Secret has not", accept, issue, Autoscaler{Groups: group(old), Pods: pod("")}, "a new server of g does not trust the new authority yet"},
		{"the Secret cannot be read", accept, issue, Autoscaler{Groups: []Node{{Name: "a new server of g"}}}, "it is not known which authorities a new server of g trusts"},
		{"killed before the Deployment", accept, issue, Autoscaler{Groups: group(accept), Pods: pod("")}, servers + "does not trust the new authority yet"},
		{"a rollout hangs", issue, Trust{Issues: "b"}, Autoscaler{Groups: group(issue), Pods: pod(Mark(TalosCA, accept))}, servers + "has certificates of the old authority still"},
		{"and the new pod is there", accept, issue, Autoscaler{Groups: group(accept), Pods: []Pod{{"q", Mark(TalosCA, accept)}, {"p", ""}}}, servers + "does not trust the new authority yet"},
		{"another rotation was before", accept, issue, Autoscaler{Groups: group(accept), Pods: pod(Mark(TalosCA, Trust{"a", []string{"z"}}))}, servers + "does not trust the new authority yet"},
		{"a mark of another kind", issue, Trust{Issues: "b"}, Autoscaler{Groups: group(issue), Pods: pod(Mark(KubernetesCA, accept))}, ""},
		{"a mark that cannot be read", issue, Trust{Issues: "b"}, Autoscaler{Groups: group(issue), Pods: pod("what?")}, "it is not known which authorities " + servers + "trusts"},
		{"pods without a Secret", issue, Trust{Issues: "b"}, Autoscaler{Pods: pod("")}, "it is not known which authorities " + servers + "trusts"},
		{"the rotation is done", issue, Trust{Issues: "b"}, Autoscaler{Groups: group(Trust{Issues: "b"}), Pods: pod("")}, ""},
		{"a server starts", accept, issue, Autoscaler{Groups: group(accept), Servers: []Node{{Name: "g-1"}}}, "it is not known which authorities g-1 trusts"},
		{"nodes learn beside all of it", old, accept, Autoscaler{Groups: group(old), Pods: pod("what?"), Servers: []Node{{Name: "g-1"}}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Gate(TalosCA, tt.has, tt.wants, tt.seen.Comers(TalosCA)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestWhoComesJoins: Git goes on, and back, runs are killed between any two steps, and at
// every moment the autoscaler makes servers, its pods start, start again, or hang, as they
// like. No server ever comes that does not trust a node, or that a node does not trust.
// Going on ends the same.
func TestWhoComesJoins(t *testing.T) {
	ended := 0
	for seed := range uint64(2000) {
		w := newScaled(t, seed)
		for range 40 {
			w.operator()
		}
		ended += w.finish()
	}
	if ended == 0 {
		t.Error("no rotation came to its end")
	}
	t.Logf("%d rotations came to their end", ended)
}

// scaled is a cluster with an autoscaler.
type scaled struct {
	t        *testing.T
	seed     uint64
	random   *rand.Rand
	git      State[string]
	commits  []State[string] // before it
	ever     []State[string] // all that Git ever had
	nodes    []*Trust        // those of the tree, and those that the autoscaler made
	secret   Trust
	mark     string // of the Deployment
	pods     []*scaledPod
	starting []*Trust // servers that are no nodes yet
	calm     bool     // nothing happens by itself
}

// scaledPod is a pod of the autoscaler.
type scaledPod struct {
	mark string
	read Trust
}

func newScaled(t *testing.T, seed uint64) *scaled {
	w := &scaled{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 2)), git: State[string]{Issuing: "0"}}
	w.secret = trust(w.git)
	for range 1 + w.random.IntN(3) {
		w.nodes = append(w.nodes, new(w.secret))
	}
	w.pods = []*scaledPod{{"", w.secret}}
	return w
}

// operator commits, goes back, or applies.
func (w *scaled) operator() {
	// Nobody goes on whose nodes are known to be behind: there is no way back for them.
	behind := slices.ContainsFunc(w.nodes, func(n *Trust) bool { return n.Issues != w.git.Issuing })
	switch w.random.IntN(6) {
	case 0:
		if w.git.Phase != Issue || !behind {
			w.commit(w.git.Next(fmt.Sprint(w.random.Uint32())))
		}
	case 1:
		if back, err := w.git.Back(); err == nil && (w.git.Phase != Accept || !behind) {
			w.commit(back)
		}
	case 2:
		w.revert()
	default:
		w.apply(w.random.IntN(12), stages(w.random.IntN(4)))
	}
}

func (w *scaled) commit(s State[string]) {
	w.commits, w.ever, w.git = append(w.commits, w.git), append(w.ever, w.git), s
}

// revert goes back to the commit before.
func (w *scaled) revert() {
	if n := len(w.commits); n > 0 {
		w.ever = append(w.ever, w.git)
		w.git, w.commits = w.commits[n-1], w.commits[:n-1]
	}
}

// gitMark is what the Deployment in Git carries.
func (w *scaled) gitMark() string {
	if w.git.Phase == None {
		return ""
	}
	return Mark(TalosCA, trust(w.git))
}

// seen is all that a run sees of nodes and of what may become some. What can make a server
// is looked at before servers.
func (w *scaled) seen() (all []Node) {
	var a Autoscaler
	a.Groups = []Node{{Name: "group", Trust: new(w.secret)}}
	w.passes()
	for _, p := range w.pods {
		a.Pods = append(a.Pods, Pod{"pod", p.mark})
	}
	w.passes()
	for range w.starting {
		a.Servers = append(a.Servers, Node{Name: "server"})
	}
	for _, n := range w.nodes {
		all = append(all, Node{Name: "node", Trust: new(*n)})
	}
	return append(all, a.Comers(TalosCA)...)
}

// stages are those of a run.
type stages int

const (
	onlyNodes stages = iota
	onlyKubernetes
	both
)

// apply plans, and takes as many steps as it gets to: all nodes, the Secret, the
// Deployment. It reports whether all is as Git has it.
func (w *scaled) apply(steps int, which stages) bool {
	wants, seen := trust(w.git), w.seen()
	planned := slices.Clone(w.nodes)
	switch {
	case which == onlyKubernetes && !w.secret.Equal(wants) && !Learns(w.secret, wants):
		return false
	case which == onlyKubernetes:
		planned = nil
	}
	follow := planned
	if which != onlyNodes {
		follow = append(slices.Clone(planned), &w.secret)
	}
	may := func(has Trust, seen []Node) bool {
		return has.Equal(wants) || Step(has, wants) && Gate(TalosCA, has, wants, seen) == ""
	}
	for _, has := range follow {
		if !may(*has, seen) {
			return false // the plan is refused
		}
	}
	next := func() bool { w.passes(); steps--; return steps >= 0 }
	for _, n := range planned {
		if n.Equal(wants) {
			continue
		}
		if !next() || !may(*n, w.seen()) {
			return false
		}
		*n = wants
		w.check()
	}
	if which == onlyNodes || !next() {
		return false
	}
	w.secret = wants
	w.check()
	if !next() {
		return false
	}
	w.mark = w.gitMark()
	w.passes()
	return true
}

// passes is some time, in which anything may happen.
func (w *scaled) passes() {
	for n := 0; !w.calm && n < w.random.IntN(4); n++ {
		what := w.random.IntN(8)
		switch at := w.random.IntN(max(len(w.pods), 1)); {
		case what == 0:
			w.joins()
		case what == 1:
			w.starts()
		case what == 2:
			w.replaced()
		case what == 3 && len(w.nodes) > 3:
			w.nodes = w.nodes[:len(w.nodes)-1] // a node is not needed any more
		case len(w.pods) == 0:
		case what == 4:
			w.pods[at].read = w.secret // its container starts again
		case what == 5:
			w.pods = slices.Delete(w.pods, at, at+1) // its node reboots
		case len(w.starting) < 3 && len(w.nodes) < 7:
			w.starting = append(w.starting, new(w.pods[at].read))
		}
		w.check()
	}
}

// joins lets a server become a node.
func (w *scaled) joins() {
	if len(w.starting) > 0 {
		w.nodes, w.starting = append(w.nodes, w.starting[0]), w.starting[1:]
	}
}

// starts makes a pod as the Deployment has it.
func (w *scaled) starts() {
	if len(w.pods) < 3 {
		w.pods = append(w.pods, &scaledPod{w.mark, w.secret})
	}
}

// replaced ends an older pod, if one is there that is as the Deployment has it.
func (w *scaled) replaced() {
	old := slices.IndexFunc(w.pods, func(p *scaledPod) bool { return p.mark != w.mark })
	if old >= 0 && slices.ContainsFunc(w.pods, func(p *scaledPod) bool { return p.mark == w.mark }) {
		w.pods = slices.Delete(w.pods, old, old+1)
	}
}

// check wants all who are there, and all who may come now, to trust one another.
func (w *scaled) check() {
	all := append(slices.Clone(w.nodes), w.starting...)
	for _, p := range w.pods {
		all = append(all, &p.read)
	}
	for _, a := range append(all, &w.secret) {
		for _, b := range append(all, &w.secret) {
			if !a.trusts(b.Issues) {
				w.t.Fatalf("seed %d: %v does not trust %v; Git has %v", w.seed, *a, *b, w.git)
			}
		}
	}
}

// finish lets what starts join, and pods be replaced, and ends what is under way: from
// another commit where one is too early. It returns how many rotations it ended.
func (w *scaled) finish() (ended int) {
	w.calm = true
	for tries := 0; ; tries++ {
		for len(w.starting) > 0 {
			w.joins()
		}
		w.pods = append(w.pods, &scaledPod{w.mark, w.secret})
		for range 4 {
			w.replaced()
		}
		w.pods = w.pods[:1]
		switch {
		case tries > 200:
			w.t.Fatalf("seed %d: it does not end: Git has %v, the Secret %v, a pod %v, and nodes %v", w.seed, w.git, w.secret, *w.pods[0], w.trusts())
		case !w.apply(100, both):
			w.ever = append(w.ever, w.git)
			for i := range w.ever {
				if w.git = w.ever[len(w.ever)-1-i]; w.apply(100, both) {
					break
				}
			}
		case w.git.Phase == None:
			return ended
		case tries%2 == 1: // all pods have begun with the phase
			w.commit(w.git.Next(""))
			if w.git.Phase == None {
				ended++
			}
		}
	}
}

// trusts is what nodes have.
func (w *scaled) trusts() (all []Trust) {
	for _, n := range w.nodes {
		all = append(all, *n)
	}
	return all
}
