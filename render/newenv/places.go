package newenv

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/nodefile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// placeFormats are those of options that say where something is: of two clusters only
// one can be there.
var placeFormats = []string{"addressRange", "bucket", "dnsName", "endpoint", "host", "hostname", "ip", "ipPrefix", "mac", "ociURL", "recordName", "serial", "smbShare", "uuid"}

// placeOptions are options that say it by a number or a name.
var placeOptions = []string{"clusterName", "network.existing.id", "network.existing.name", "network.vswitch.id"}

// common are options that clusters share: what they ask, and who may use them. What is
// in the private network was moved.
var common = []string{
	"network.dnsDomain", "network.extraRoutes", "talos.nameservers", "talos.timeServers", "talos.staticHosts", "talos.registries", "talos.imageFactory",
	"kubernetes.oidc", "hetzner.firewall", "network.natGateway", "certificates", "gitops.notifications",
}

// value is a scalar of cluster.yaml, or of a base.
type value struct {
	path     string // as people write it
	steps    []string
	node     *yaml.Node
	base     string // where it stands, if that is a base
	expanded string
	vars     []string // that it is made of
	format   string   // of its option
}

// values are the scalars of a cluster.yaml as it is laid over its bases.
func values(file string, files config.Files, scope *subst.Scope) (all []value, err error) {
	parts, err := base.Read(file, files)
	if err != nil {
		return nil, err
	}
	root, err := base.Merge(parts)
	if err != nil {
		return nil, err
	}
	var walk func(n *yaml.Node, t reflect.Type, path, format string, steps []string)
	walk = func(n *yaml.Node, t reflect.Type, path, format string, steps []string) {
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				key := n.Content[i].Value
				below, its := under(t, key, format)
				walk(n.Content[i+1], below, strings.TrimPrefix(path+"."+key, "."), its, append(slices.Clip(steps), key))
			}
		case yaml.SequenceNode:
			below, _ := under(t, "", format)
			for i, item := range n.Content {
				walk(item, below, path+"["+strconv.Itoa(i)+"]", format, append(slices.Clip(steps), strconv.Itoa(i)))
			}
		case yaml.ScalarNode:
			expanded, used, _, _ := subst.Expand(n.Value, scope) // what is wrong with it was told
			all = append(all, value{path, steps, n, nodefile.Of(n, ""), expanded, used, format})
		}
	}
	walk(root, reflect.TypeFor[schemas.Cluster](), "", "", nil)
	return all, nil
}

// under is the type of what is below a key, and its format.
func under(t reflect.Type, key, format string) (reflect.Type, string) {
	if t == nil {
		return nil, ""
	}
	switch t.Kind() {
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if !f.Anonymous && f.Tag.Get("yaml") == key {
				its, _ := schemas.Tag(f.Tag, "format")
				return f.Type, its
			}
		}
		return nil, ""
	case reflect.Slice, reflect.Map:
		return t.Elem(), format
	}
	return nil, ""
}

// isPlace reports whether only one cluster can have a value.
func (v value) isPlace() bool {
	bare := index.ReplaceAllString(v.path, "")
	if slices.ContainsFunc(common, func(option string) bool { return bare == option || strings.HasPrefix(bare, option+".") }) {
		return false
	}
	return slices.Contains(placeOptions, bare) || slices.Contains(placeFormats, v.format)
}

// checkPlaces refuses what is where the other environment has it, unless it was said.
func (a *adding) checkPlaces(vars subst.Vars) error {
	file := a.old.File(source.ClusterFile)
	before, err := values(file, a.old.Raw, &subst.Scope{Vars: a.was})
	if err != nil {
		return err
	}
	was := map[string]string{}
	for _, v := range before {
		was[v.path] = v.expanded
	}
	now, err := values(a.path(source.ClusterFile), a.all(), &subst.Scope{Vars: vars})
	if err != nil {
		return err
	}
	var problems diag.List
	for _, v := range now {
		if !v.isPlace() || v.expanded == "" || was[v.path] != v.expanded || a.said(v) {
			continue
		}
		flag := v.path
		if len(v.vars) > 0 {
			flag = v.vars[0]
		}
		problems.Add(diag.On(v.path, "%s is where %s is", v.expanded, a.Like).WithHint("say where %s is: --set '%s=…'; the same value, if both may have it", a.env, flag).WithCode(diag.Usage))
	}
	return problems.Err()
}

// said reports whether --set has a value, or a variable that it is made of.
func (a *adding) said(v value) bool {
	if _, is := a.Set[v.path]; is {
		return true
	}
	return slices.ContainsFunc(v.vars, func(name string) bool {
		_, is := a.Set[name]
		return is
	})
}
