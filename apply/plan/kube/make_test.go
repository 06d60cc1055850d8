package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/manifest"
)

// object reads an object from YAML. Empty text is no object.
func object(t *testing.T, text string) Object {
	t.Helper()
	if text == "" {
		return nil
	}
	objects, err := manifest.Parse("test.yaml", []byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects (%v) in %s", len(objects), err, text)
	}
	return objects[0]
}

// managed adds who owns which fields: manager, operation and fieldsV1 as YAML.
func managed(text string, entries ...string) string {
	return strings.Replace(text, "metadata: {", "metadata: {uid: u1, resourceVersion: '7', managedFields: ["+strings.Join(entries, ", ")+"], ", 1)
}

func entry(manager, operation, fields string) string {
	return fmt.Sprintf("{manager: %s, operation: %s, fieldsV1: %s}", manager, operation, fields)
}

const (
	config     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {x: one}}"
	configTwo  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {x: two}}"
	configFlux = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: fs}}, data: {x: one}}"
	thing      = "{apiVersion: example.org/v1, kind: Thing, metadata: {name: a, namespace: ns}}"
	dataX      = "{'f:data': {'f:x': {}}}"
	dataXLabel = "{'f:data': {'f:x': {}}, 'f:metadata': {'f:labels': {'f:kustomize.toolkit.fluxcd.io/name': {}, 'f:kustomize.toolkit.fluxcd.io/namespace': {}}}}"
)

// world is what is desired and seen of one object.
type world struct {
	desired, live string
	flux          string // the Kustomization that owns it
	seed          bool
	kustomization *Kustomization // fs/apps, as it is
	trial         *DryRun
	trialResult   string
	inventory     []string
	unserved      bool
	more          string // another object of ours
	noNamespace   bool
	terminating   bool
	policy        plan.Consent
}

func (w world) plan(t *testing.T) *Plan {
	t.Helper()
	o := Observed{
		API: true, Objects: map[ID]Object{}, Served: map[string]bool{}, Namespaces: map[string]bool{"ns": w.terminating},
		Kustomizations: map[string]Kustomization{}, Trials: map[ID]DryRun{},
	}
	if w.noNamespace {
		o.Namespaces = nil
	}
	var d Desired
	d.Cluster = "demo"
	if w.desired != "" {
		item := Item{Object: object(t, w.desired), File: "f.yaml", Stage: Provider, Kustomization: w.flux, Seed: w.seed}
		d.Items = append(d.Items, item)
		o.Served[Served(item.Object)] = !w.unserved
	}
	if w.more != "" {
		d.Items = append(d.Items, Item{Object: object(t, w.more), Stage: Definitions})
		o.Served["Namespace.v1"], o.Served["CustomResourceDefinition.apiextensions.k8s.io/v1"] = true, true
	}
	if live := object(t, w.live); live != nil {
		o.Objects[live.ID()] = live
	}
	if w.kustomization != nil {
		o.Kustomizations["fs/apps"] = *w.kustomization
	}
	for _, text := range w.inventory {
		id, _ := manifest.ParseID(text)
		o.Inventory = append(o.Inventory, id)
	}
	if w.trialResult != "" {
		w.trial = &DryRun{Result: object(t, w.trialResult)}
	}
	asked := Trials(d, o)
	if (len(asked) > 0) != (w.trial != nil) {
		t.Errorf("asked for %d trials, and there is one: %v", len(asked), w.trial != nil)
	}
	if w.trial != nil {
		o.Trials[d.Items[0].ID()] = *w.trial
	}
	return Make(d, o, w.policy)
}

func TestMake(t *testing.T) {
	ours := managed(config, entry("talosgen", "Apply", dataX))
	fluxs := managed(configFlux, entry("kustomize-controller", "Apply", dataXLabel))
	looked, fresh, suspended := &Kustomization{Attempted: "main@sha1:1"}, &Kustomization{}, &Kustomization{Attempted: "main@sha1:1", Suspended: true}
	for name, test := range map[string]struct {
		world
		want string // of the step, its reason, refusals and warnings
	}{
		"new":                                {world{desired: config}, "create"},
		"new, its kind comes first":          {world{desired: thing, unserved: true, more: "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {group: example.org, names: {kind: Thing}}}"}, "create; create (once its kind is defined)"},
		"new, its namespace comes first":     {world{desired: config, noNamespace: true, more: "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}"}, "create; create (once its namespace is there)"},
		"nobody defines its kind":            {world{desired: thing, unserved: true}, "waits (the API serves no Thing.example.org/v1, and the tree does not define it)"},
		"nobody makes its namespace":         {world{desired: config, noNamespace: true}, "waits (there is no namespace ns, and the tree does not make it)"},
		"Flux is not there":                  {world{desired: strings.ReplaceAll(config, "namespace: ns", "namespace: flux-system")}, "waits (there is no namespace flux-system, and the tree does not make it: Flux is not installed yet)"},
		"its namespace goes":                 {world{desired: config, terminating: true}, "create; refused: its namespace is being deleted"},
		"as it was":                          {world{desired: config, live: ours, inventory: []string{"ConfigMap/ns/a"}}, "unchanged"},
		"as it was, and not noted":           {world{desired: config, live: ours}, "change (the inventory does not name it)"},
		"a default, and not noted":           {world{desired: config, live: managed(config, entry("talosgen", "Apply", "{}")), trialResult: managed(config, entry("talosgen", "Apply", "{}"))}, "change (the inventory does not name it)"},
		"another value":                      {world{desired: configTwo, live: ours, trialResult: managed(configTwo, entry("talosgen", "Apply", dataX))}, "change [data.x: one -> two]"},
		"only its owner is another":          {world{desired: config, live: managed(config, entry("kubectl", "Update", dataX)), trialResult: managed(config, entry("kubectl", "Update", dataX), entry("talosgen", "Apply", dataX))}, "change (its fields become those of talosgen)"},
		"a default is no difference":         {world{desired: config, live: managed(config, entry("talosgen", "Apply", "{}")), trialResult: managed(config, entry("talosgen", "Apply", "{}")), inventory: []string{"ConfigMap/ns/a"}}, "unchanged"},
		"somebody else's fields":             {world{desired: configTwo, live: ours, trial: &DryRun{Conflicts: []FieldConflict{{"helm", []string{"data.x"}}}}}, "conflict (fields of it are of helm)"},
		"immutable":                          {world{desired: configTwo, live: ours, trial: &DryRun{Immutable: "data cannot be changed"}}, "replace (data cannot be changed) without consent"},
		"immutable, with consent":            {world{desired: configTwo, live: ours, trial: &DryRun{Immutable: "data cannot be changed"}, policy: plan.Consent{Allow: []string{"ConfigMap/ns/a"}}}, "replace (data cannot be changed)"},
		"refused":                            {world{desired: configTwo, live: ours, trial: &DryRun{Refused: "no"}}, "change; refused: no"},
		"Flux will make it":                  {world{desired: config, flux: "fs/apps"}, "flux (Flux makes it)"},
		"Flux makes it, it has looked":       {world{desired: config, flux: "fs/apps", seed: true, kustomization: looked}, "flux (Flux makes it)"},
		"Flux has not looked yet":            {world{desired: config, flux: "fs/apps", seed: true, kustomization: fresh}, "create"},
		"before there is a Kustomization":    {world{desired: config, flux: "fs/apps", seed: true}, "create"},
		"Flux is suspended":                  {world{desired: config, flux: "fs/apps", seed: true, kustomization: suspended}, "create"},
		"made as Flux would":                 {world{desired: config, flux: "fs/apps", seed: true, live: fluxs}, "unchanged"},
		"Flux has it":                        {world{desired: configTwo, flux: "fs/apps", seed: true, live: fluxs, kustomization: looked}, "flux"},
		"Flux has it, and somebody else too": {world{desired: config, flux: "fs/apps", live: managed(configFlux, entry("kubectl-client-side-apply", "Update", dataX)), kustomization: looked}, "flux; warning: is Flux's, but kubectl-client-side-apply still owns fields of it: what Git removes stays"},
		"was Flux's, and Flux keeps it":      {world{desired: config, live: fluxs, kustomization: looked}, "conflict (Kustomization fs/apps of Flux has it, and it is talosgen's in Git)"},
		"was Flux's, which is suspended":     {world{desired: config, live: fluxs, kustomization: suspended}, "hand-over (Flux made it, and it is talosgen's now)"},
		"was Flux's, which is gone":          {world{desired: config, live: fluxs}, "hand-over (Flux made it, and it is talosgen's now)"},
		"was ours, is Flux's":                {world{desired: config, flux: "fs/apps", live: ours, inventory: []string{"ConfigMap/ns/a"}, kustomization: looked}, "hand-over (talosgen made it, and it is Flux's now)"},
		"gone from Git":                      {world{live: ours, inventory: []string{"ConfigMap/ns/a"}}, "delete (it is not in Git any more) without consent"},
		"gone from Git, with consent":        {world{live: ours, inventory: []string{"ConfigMap/ns/a"}, policy: plan.Consent{AllowDestroy: true}}, "delete (it is not in Git any more)"},
		"gone from both":                     {world{inventory: []string{"ConfigMap/ns/a"}}, ""},
		"gone from Git, somebody has it":     {world{live: managed(config, entry("helm", "Apply", dataX)), inventory: []string{"ConfigMap/ns/a"}}, "; warning: talosgen made it, but another field manager applies it now: it is kept"},
		"gone from Git, and never ours":      {world{live: ours}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.plan(t)
			if got := describe(p); got != test.want {
				t.Errorf("the plan is %q, want %q\n%s", got, test.want, p)
			}
		})
	}
}

func describe(p *Plan) string {
	text := ""
	for i, s := range p.Steps {
		if i > 0 {
			text += "; "
		}
		text += string(s.Action)
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		if !s.Allowed {
			text += " without consent"
		}
		if len(s.Fields) > 0 {
			text += fmt.Sprint(" ", s.Fields)
		}
	}
	for _, n := range p.Refusals {
		text += "; refused: " + n.Text
	}
	for _, n := range p.Warnings {
		text += "; warning: " + n.Text
	}
	return text
}

// Before there is an API, everything is to be made, in order.
func TestMakeFromNothing(t *testing.T) {
	d := Desired{Cluster: "demo", Items: []Item{
		{Object: object(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: g, namespace: fs}}"), Stage: Sources, Kustomization: "fs/talosgen", Seed: true},
		{Object: object(t, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: cilium, namespace: kube-system}}"), Stage: CNI},
		{Object: object(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: cilium, namespace: kube-system}}"), Stage: CNI},
		{Object: object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: fs}}"), Stage: Definitions, Kustomization: "fs/talosgen", Seed: true},
		{Object: object(t, config), Stage: Flux, Kustomization: "fs/apps"},
	}}
	p := Make(d, Observed{}, plan.Consent{})
	const want = `demo, Kubernetes: 4 to create, 1 of Flux
definitions:
  + Namespace/fs
cni:
  + ServiceAccount/kube-system/cilium
  + DaemonSet.apps/kube-system/cilium
sources:
  + GitRepository.source.toolkit.fluxcd.io/fs/g
`
	if p.String() != want || p.Problems() != nil {
		t.Errorf("the plan is\n%s\nwant\n%s", p, want)
	}
	if p.Check(p) != nil || p.InSync() {
		t.Error("it can be executed, and has to be")
	}
}

func TestTwoOwnersInTheTree(t *testing.T) {
	d := Desired{Items: []Item{{Object: object(t, config), File: "a.yaml", Stage: CNI}, {Object: object(t, config), File: "b.yaml", Stage: Provider}}}
	if got := describe(Make(d, Observed{}, plan.Consent{})); !strings.Contains(got, "is in the tree twice: a.yaml and b.yaml") {
		t.Errorf("the plan is %q", got)
	}
}

func TestTakeover(t *testing.T) {
	ours := entry("talosgen", "Apply", dataX)
	for name, test := range map[string]struct{ flux, live, want string }{
		"ours alone":        {"", managed(config, ours), ""},
		"kubectl, by hand":  {"", managed(config, ours, entry("kubectl-edit", "Update", dataX)), "kubectl-edit"},
		"several":           {"", managed(config, entry("helm", "Update", dataX), entry("before-first-apply", "Update", dataX), entry("Terraform", "Apply", dataX)), "Terraform before-first-apply helm"},
		"a controller":      {"", managed(config, ours, entry("kube-controller-manager", "Update", dataX)), ""},
		"a status":          {"", managed(config, ours, "{manager: kubectl, operation: Update, subresource: status, fieldsV1: {}}"), ""},
		"an unknown one":    {"", managed(config, ours, entry("my-operator", "Apply", dataX)), ""},
		"ours, now Flux's":  {"fs/apps", managed(config, ours), "talosgen"},
		"Flux's, now ours":  {"", managed(config, entry("kustomize-controller", "Apply", dataX)), "kustomize-controller"},
		"Flux's own":        {"fs/apps", managed(config, entry("kustomize-controller", "Apply", dataX)), ""},
		"an update as ours": {"", managed(config, entry("talosgen", "Update", dataX)), "talosgen"},
	} {
		t.Run(name, func(t *testing.T) {
			live := object(t, test.live)
			p := Takeover(Desired{Items: []Item{{Object: object(t, config), Kustomization: test.flux, Stage: CNI}}}, Observed{API: true, Objects: map[ID]Object{live.ID(): live}})
			got := ""
			for _, s := range p.Changes() {
				got += strings.Join(s.Others, " ")
			}
			if got != test.want {
				t.Errorf("takes over %q, want %q", got, test.want)
			}
		})
	}
}
