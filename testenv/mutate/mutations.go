package main

// mutation is a deliberate bug: a text in a file that is replaced by another one,
// and the tests that must find it.
type mutation struct {
	name     string
	file     string
	old, new string
	pkg      string
	tests    string // of -run
}

// mutations are bugs of the kinds that there were, and of those that would cost
// most.
var mutations = []mutation{
	// What the suite had not found.
	{"stale plan: after a lost answer the same plan is executed", "apply/infrastructure.go", "\t\terr := i.plan(ctx)\n\t\treturn of(i.latest), err\n", "\t\treturn of(i.latest), nil\n", "apply", "^TestLostOnTheWay$"},
	{"stale plan: what was planned before the nodes is executed after them", "apply/infrastructure.go", "\t\tif i.old {\n", "\t\tif i.old && false {\n", "apply", "^TestGivenAway$"},
	{"stale plan: what was agreed to is executed again", "apply/infrastructure.go", "Converge(ctx, of(i.latest), ", "Converge(ctx, of(i.agreed), ", "apply", "^TestNothingTwice$"},
	{"a server that a dead run left off stays off", "apply/sweep.go", "if s.inventory.owns(server) && cloudplan.LeftOff(server) {", "if s.inventory.owns(server) && !cloudplan.LeftOff(server) && cloudplan.LeftOff(server) {", "apply", "^TestKilledWhileOff$"},
	{"a name that stands readable in Git is masked", "internal/secret/masker.go", " && !m.readable.Holds(p.of) && !m.readable.Holds(text[:n])", "", "internal/secret", "Test"},
	{"a DNS cache that is off knows names, which Talos refuses", "render/internal/config/defaults.go", "ch.Talos.HostDNS.ResolveMemberNames = ch.Talos.HostDNS.Enabled", "ch.Talos.HostDNS.ResolveMemberNames = true", "render/internal/config", "Test"},
	{"the user of Robot must be secret", "render/internal/catalogue/hcloud_ccm.go", "Readable: true, Shape: \"user\"", "Shape: \"user\"", "cmd/talosgen", "^TestGeneratedRender$"},
	{"a wait for real programs is by the clock alone", "testenv/patience/clock.go", "\t\tpassed /= slower\n\t}\n\tc.at", "\t}\n\tc.at", "testenv/patience", "Test"},

	// etcd.
	{"quorum: half is enough", "internal/etcdsafety/etcdsafety.go", "return voters/2 + 1", "return (voters + 1) / 2", "internal/etcdsafety", "Test"},
	{"quorum: the last member may be removed", "internal/etcdsafety/etcdsafety.go", "if m.Voter && voters == 1 {", "if m.Voter && voters == 0 {", "internal/etcdsafety", "Test"},
	{"quorum: one of two may stop while the other is broken", "internal/etcdsafety/etcdsafety.go", "voters <= 2 && healthy == voters {", "voters <= 2 {", "internal/etcdsafety", "Test"},
	{"quorum: two clusters are none too many", "internal/etcdsafety/etcdsafety.go", "if len(now) > 1 {", "if len(now) > 2 {", "internal/etcdsafety", "Test"},
	{"bootstrap: one look is enough", "apply/plan/nodes/bootstrap/bootstrap.go", "case !confirmed(now, earlier):", "case !confirmed(now, now):", "apply/plan/nodes/bootstrap", "Test"},
	{"bootstrap: called again at once", "apply/plan/nodes/bootstrap/bootstrap.go", "const Pause = 5 * 60", "const Pause = 0", "apply/plan/nodes/bootstrap", "Test"},
	{"bootstrap: a call that is noted, and read late where it is recorded, is not seen", "apply/plan/nodes/bootstrap/turn.go", "p.Seen < Pause && !now.over(n) {", "p.Seen < Pause && now.over(n) {", "apply/internal/nodes", "^TestStaleIntents$"},
	{"bootstrap: beside a node of another cluster", "apply/plan/nodes/bootstrap/bootstrap.go", "if foreign := in(controlPlanes, Foreign); len(foreign) > 0 {", "if foreign := in(planes, Foreign); len(foreign) > 9 {", "apply/plan/nodes/bootstrap", "Test"},
	{"bootstrap: while nobody knows of a node", "apply/plan/nodes/bootstrap/bootstrap.go", "if unknown := in(controlPlanes, Unknown, \"\"); len(unknown) > 0 {", "if unknown := in(planes, Unknown, \"\"); len(unknown) > 9 {", "apply/plan/nodes/bootstrap", "Test"},

	// Secrets.
	{"seal: digests are not sealed", "internal/rendered/seal.go", "\t\t\ttext(e.Digest)\n", "", "internal/rendered", "Test"},
	{"seal: the cluster is not sealed", "internal/rendered/seal.go", "\t\ttext(l.Cluster)\n", "", "internal/rendered", "Test"},
	{"seal: any seal fits", "internal/rendered/seal.go", "if hmac.Equal(", "if l.Seal != \"\" || hmac.Equal(", "internal/rendered", "Test"},
	{"masker: the end of a secret is shown", "internal/secret/masker.go", "mark(hidden, from, to)", "mark(hidden, from, to-1)", "internal/secret", "Test"},
	{"masker: in JSON and base64 a secret is shown", "internal/secret/masker.go", "for _, form := range forms(secret) {", "for _, form := range forms(secret)[:1] {", "internal/secret", "Test"},
	{"leak: a value of a list is not compared", "render/internal/leak/leak.go", "out[i] = c.value(x[i], y[i], at.item(i))", "out[i] = x[i]", "render/internal/leak", "Test"},
	{"leak: a key may depend on a secret", "render/internal/leak/leak.go", "if len(a) != len(b) {", "if len(a) > len(b) {", "render/internal/leak", "Test"},
	{"envelope: a secret leaf stays readable", "render/internal/envelope/envelope.go", "if !d.Secret[i] {", "if !d.Secret[i] || i == 0 {", "render/internal/envelope", "Test"},
	{"variables: a secret default is none", "render/internal/subst/expand.go", "return ref.fallback, v.Secret, noFault", "return ref.fallback, false, noFault", "render/internal/subst", "Test"},
	{"variables: an undefined one is empty", "render/internal/subst/expand.go", "return \"\", false, undefined", "return \"\", false, noFault", "render/internal/subst", "Test"},

	// What is rendered.
	{"layers: the environment loses to what is shared", "render/internal/layer/layer.go", "\t\tplace{Shared, Role, role},\n\t\tplace{Env, Common, \"\"},\n", "\t\tplace{Env, Common, \"\"},\n\t\tplace{Shared, Role, role},\n", "render/internal/layer", "Test"},
	{"layers: a pool wins over a node", "render/internal/layer/layer.go", "place{Env, Pool, n.Pool}, place{Env, Node, n.Name}", "place{Env, Node, n.Name}, place{Env, Pool, n.Pool}", "render/internal/layer", "Test"},
	{"addresses: the virtual address is that of the gateway's neighbour", "render/internal/address/address.go", "vipOffset         = -2", "vipOffset         = -3", "render/internal/address", "Test"},
	{"addresses: a subnet begins at the gateway", "render/internal/address/address.go", "\t\tfirst = 1\n", "\t\tfirst = 0\n", "render/internal/address", "Test"},
	{"pools: two nodes have one address", "render/internal/config/offsets.go", "if !clash {", "if !clash || first > 0 {", "render/internal/config", "Test"},
	{"pools: an even control plane", "render/internal/config/nodes.go", "case n > 0 && n%2 == 0:", "case n > 0 && n%2 == 3:", "render/internal/config", "Test"},
	{"pools: names that are too long for servers", "render/internal/config/resolve.go", "const maxPoolName = 56", "const maxPoolName = 64", "render/internal/config", "Test"},
	{"autoscaler: more at least than at most", "render/internal/config/poolrules.go", "if p.Min > p.Max && ", "if p.Min > p.Max+1000 && ", "render/internal/config", "Test"},
	{"gitops: a deploy key for https", "render/internal/config/gitops.go", "case auth == schemas.DeployKey && !ssh:", "case auth == schemas.DeployKey && !ssh && ssh:", "render/internal/config", "Test"},
	{"selectors: what must not match does", "internal/labelselector/selector.go", "not: op == \"!=\", values", "not: false, values", "internal/labelselector", "Test"},
	{"order: node-10 before node-2", "internal/natural/natural.go", "cmp.Compare(len(n), len(k)), ", "", "internal/natural", "Test"},
	{"generator: what is left out is there", "internal/generate/draws.go", "if d.without[name] || d.random", "if d.random", "internal/generate", "Test"},
}
