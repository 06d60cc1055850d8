package main

import (
	"reflect"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/notify"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/jsonshape"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/charts"
	"github.com/talosgen/talosgen/render/newenv"
	"github.com/talosgen/talosgen/render/nodepools"
)

// runDocument names the schema of what webhooks get, which no command prints.
const runDocument = "run"

// shapes are the types of what commands print for programs, by the words of a command,
// and the flag that makes it print something else, without its dashes.
func shapes() map[string]reflect.Type {
	all := map[string]reflect.Type{
		"plan":     reflect.TypeOf((&apply.Plan{}).ForPrograms()),
		"history":  reflect.TypeFor[[]ledger.Entry](),
		"status":   result((*apply.Cluster).Status),
		"health":   resultOf(result((*apply.Session).Health), "Of"),
		"rehearse": reflect.TypeFor[rehearsal.Report](),
		"watch":    reflect.TypeFor[watch.Tick](),
		"doctor":   reflect.TypeFor[[]preflight.Finding](),
		"output":   result((*apply.Session).Outputs),
		"takeover": reflect.TypeFor[kubeplan.Plan](),

		"upgrade plan": reflect.TypeFor[upgradeplan.Plan](),
		runDocument:    reflect.TypeFor[notify.Run](),

		"access show": reflect.TypeFor[shownAccess](), "access open": result(apply.Access.Open), "access close": reflect.TypeFor[closedAccess](),
		"etcd status": result((*apply.Session).Etcd), "etcd snapshot": result((*apply.Session).SaveEtcd),
		"image list": reflect.TypeFor[[]imageReport](), "image prune": reflect.TypeFor[[]imageReport](), "image url": result(render.FindImageURLs),

		"render": reflect.TypeFor[[]renderReport](), "diff": reflect.TypeFor[[]render.Change](), "explain": result((*render.Repo).Explain),
		"check": reflect.TypeFor[treeReport](), "pool list": reflect.TypeFor[[]nodepools.Pool](), "env add": result(newenv.Add),
		"charts outdated": reflect.TypeFor[[]charts.Age](),
		"version":         reflect.TypeFor[builtAs](),
	}
	for _, run := range []string{"apply", "destroy", "replace", "reset", "try", "upgrade"} {
		all[run] = reflect.TypeFor[summary.Summary]()
	}
	for _, one := range []string{"charts lock", "charts vendor", "charts verify"} {
		all[one] = reflect.TypeFor[[]charts.State]()
	}
	for _, one := range []string{"plan", "apply", "status", "upgrade"} {
		all[one+" all"] = reflect.TypeFor[[]outcome]()
	}
	return all
}

// result is the type of the first result of a function, or what that points to.
func result(function any) reflect.Type {
	t := reflect.TypeOf(function).Out(0)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// resultOf is the type of the first result of a method.
func resultOf(t reflect.Type, method string) reflect.Type {
	m, _ := t.MethodByName(method)
	return m.Type.Out(0)
}

// outputSchema is the JSON Schema of what a command prints with -o json.
func outputSchema(words []string) ([]byte, error) {
	known, name := shapes(), strings.Join(words, " ")
	shape, found := known[name]
	if !found {
		var names []string
		for of := range known {
			names = append(names, of)
		}
		slices.Sort(names)
		return nil, diag.On("", "no command %q prints JSON", name).WithHint("there are: %s", strings.Join(names, ", ")).WithCode(diag.Usage)
	}
	title := "talosgen " + name + " -o json"
	if name == runDocument {
		title = "What webhooks get of a run of talosgen"
	}
	return jsonshape.Of(title, reflect.New(shape).Elem().Interface())
}
