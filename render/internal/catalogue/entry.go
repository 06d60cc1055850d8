package catalogue

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// entry is an addon that the catalogue knows: data and small functions. Each
// has a file of its own.
type entry struct {
	name string
	// For people: what it is, when a cluster has it, and what options it heeds.
	about, defaultOn, options string
	builtIn                   bool // its objects are talosgen's own

	layer       Layer
	namespace   string
	podSecurity string
	dependsOn   []string
	// wanted tells whether the cluster has it unless addons.<name>.enabled says
	// otherwise, and the option that says so; nil: not unless it is enabled.
	wanted func(f *facts) (on bool, option string)
	// onlyBy is the option without which it cannot be enabled; empty if
	// addons.<name>.enabled is enough.
	onlyBy string
	// hetzner tells that it is for provider hetzner only.
	hetzner bool
	// fixed tells that its namespace cannot be another: others look for it there.
	fixed bool
	// image is the version of the image that addons.<name>.version replaces, or
	// of the chart or release.
	version string
	// keep tells that it must outlive its files: see [Addon].
	keep bool
	// needs are the secrets that it needs; may be nil.
	needs func(f *facts) []Need
	// machine is what it needs of machines and of the cluster; may be nil.
	machine func(f *facts) schemas.AddonNeeds
	// build fills in what it consists of.
	build func(f *facts, a *Addon)
}

// entries are all that the catalogue knows, in the order of their names.
func entries() []entry {
	return []entry{
		certManager(),
		certIssuers(),
		certWebhook(),
		cilium(),
		autoscaler(),
		nfsVolumes(),
		smbVolumes(),
		descheduler(),
		externalSecrets(),
		envoyGateway(),
		envoyGatewayCRDs(),
		externalDNS(),
		notifications(),
		publicEntry(),
		gatewayAPI(),
		hcloudCCM(),
		hcloudCSI(),
		ingressNginx(),
		certApprover(),
		monitoring(),
		longhorn(),
		metalLB(),
		metricsServer(),
		nodeFeatures(),
		oidc(),
		localVolumes(),
		prometheusCRDs(),
		rbac(),
		reloader(),
		sealedSecrets(),
		serviceAddresses(),
		snapshotController(),
		spegel(),
		tailscale(),
		talosBackup(),
		traefik(),
	}
}

// Names lists the addons that the catalogue knows, the components of engines and the
// operator of Flux included.
func Names() []string {
	var names []string
	for _, e := range append(entries(), engines()...) {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}

// Addons returns the addons of a cluster in the order of their names: those
// that the catalogue has for what cluster.yaml says, and those that cluster.yaml
// declares. All problems are reported together.
func Addons(given Facts) ([]Addon, error) {
	f := &facts{Facts: given}
	var all []Addon
	for _, e := range entries() {
		on, origin := f.enabled(e)
		if !on {
			addonSettings{f}.checkUnused(e)
			continue
		}
		a := f.addon(e, origin)
		f.checkSecrets(f.secretsOf(e, origin))
		e.build(f, &a)
		addonSettings{f}.settle(e, &a)
		a.Needs = f.needsOf(e)
		f.checkLevel(&a)
		all = append(all, a)
	}
	all = append(all, addonSettings{f}.declared()...)
	sorting.By(all, func(a, b Addon) int { return cmp.Compare(a.Name, b.Name) })
	orderRules{f}.checkOrder(all)
	storageRules{f}.check(all)
	webRules{web{f}}.check()
	if err := f.problems.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// Values are the values that the catalogue has for the chart of an addon, though
// something may be wrong with what cluster.yaml says; false if the cluster does
// not have the addon, or the catalogue does not know it.
func Values(given Facts, name string) (map[string]any, bool) {
	for _, e := range entries() {
		f := &facts{Facts: given}
		if e.name != name {
			continue
		}
		on, origin := f.enabled(e)
		if !on {
			return nil, false
		}
		a := f.addon(e, origin)
		e.build(f, &a)
		return a.Values, true
	}
	return nil, false
}

// facts are the facts while addons are made of them, with the problems found.
type facts struct {
	Facts
	problems diag.List
	missing  map[string]bool // secrets, reported once
}

// fail reports a problem at an option of cluster.yaml, written with dots.
func (f *facts) fail(option, hint, message string, args ...any) {
	f.problems.Add(diag.New(f.near(option), message, args...).WithHint("%s", hint))
}

func (f *facts) near(option string) diag.Pos {
	if f.Near == nil {
		return diag.Pos{File: "cluster.yaml"}
	}
	return f.Near(option)
}

// setting is what cluster.yaml says of an addon.
func (f *facts) setting(name string) schemas.Addon { return f.Cluster.Addons[name] }

// enabled decides whether the cluster has an addon of the catalogue, and names
// the option that says so.
func (f *facts) enabled(e entry) (on bool, origin string) {
	if e.wanted != nil {
		on, origin = e.wanted(f)
	}
	if e.hetzner && f.Cluster.Provider != schemas.Hetzner {
		on = false
	}
	set, own := f.setting(e.name).Enabled, "addons."+e.name+".enabled"
	switch {
	case set == nil || *set == on:
		return on, origin
	case !*set:
		return false, ""
	case e.hetzner && f.Cluster.Provider != schemas.Hetzner:
		f.fail(own, "remove it", "%s is for provider hetzner", e.name)
	case e.onlyBy != "":
		f.fail(own, "set "+e.onlyBy, "%s has nothing to do unless %s is set", e.name, e.onlyBy)
	default:
		return true, own
	}
	return false, ""
}

// addon is what an entry says of itself, before it is built.
func (f *facts) addon(e entry, origin string) Addon {
	a := Addon{
		Name: e.name, Layer: e.layer, DependsOn: slices.Clone(e.dependsOn),
		Namespace: e.namespace, PodSecurity: e.podSecurity, Origin: origin,
	}
	if ns := f.setting(e.name).Namespace; ns != "" {
		if e.fixed && ns != e.namespace {
			f.fail("addons."+e.name+".namespace", "remove it", "%s belongs into %s: others look for it there", e.name, e.namespace)
		} else {
			a.Namespace = ns
		}
	}
	return a
}

// version is that of an addon's image, chart or release.
func (f *facts) version(e entry) string {
	return cmp.Or(f.setting(e.name).Version, e.version)
}
