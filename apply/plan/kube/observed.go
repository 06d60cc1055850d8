package kube

import (
	"cmp"
	"slices"
	"strings"
)

// Observed is what a cluster has, as far as the desired objects need it.
type Observed struct {
	// Whether there is an API to ask. Without one nothing is there yet.
	API bool
	// The objects that are there, of those that are desired or in the inventory.
	Objects map[ID]Object
	// The kinds that the API serves, as [Served] names them, of those that are
	// desired.
	Served map[string]bool
	// The namespaces that are there; true: they are being deleted.
	Namespaces map[string]bool
	// The Kustomizations of Flux that are there, by namespace/name.
	Kustomizations map[string]Kustomization
	// The Applications of Argo CD that are there, likewise.
	Applications map[string]Kustomization
	// What talosgen made in earlier runs.
	Inventory []ID
	// The oldest versions that control planes run; only looked for if something that
	// is desired describes servers.
	Running Versions
	// What the API says to applying objects, without doing it.
	Trials map[ID]DryRun
}

// Kustomization is how far Flux is with one, or Argo CD with an Application.
type Kustomization struct {
	Suspended bool
	Deleting  bool
	// The revision that it applied, or tried to, last; empty: it has not looked.
	Attempted string
	// The revision that it applied last: of an artifact, that which it was made of.
	Applied string
	Ready   bool
	Message string // of its Ready condition
}

// rules reports whether the engine looks after what the Kustomization names.
func (k Kustomization) rules() bool { return !k.Suspended && !k.Deleting && k.Attempted != "" }

// DryRun is the answer to an apply that was not done.
type DryRun struct {
	// The object as it would be; nil if the API refuses.
	Result Object
	// Fields that others own, with other values.
	Conflicts []FieldConflict
	// What must not change on an object that stays: why.
	Immutable string
	// Why else it is refused.
	Refused string
	Hint    string
}

// FieldConflict is fields that another manager owns.
type FieldConflict struct {
	Manager string   `json:"manager"`
	Fields  []string `json:"fields"`
}

// Served names a kind in a version of an API: Deployment.apps/v1.
func Served(o Object) string { return o.Kind() + "." + o.APIVersion() }

// live returns the object of an item, or nil.
func (o Observed) live(id ID) Object { return o.Objects[id] }

// kustomizationOf is the Kustomization whose labels an object has.
func kustomizationOf(o Object) string {
	labels := o.Map("metadata", "labels")
	namespace, _ := labels[labelNamespace].(string)
	name, _ := labels[labelName].(string)
	if name == "" {
		return ""
	}
	return namespace + "/" + name
}

// Trials are the items for which the plan needs to know what the API would do:
// those that are there, that talosgen may change, and that are not proven to be
// as desired.
func Trials(desired Desired, observed Observed) (items []Item) {
	for _, item := range desired.Items {
		live := observed.live(item.ID())
		if live == nil || !observed.served(item) || observed.engineRules(item) || !item.ours() {
			continue
		}
		if other := observed.otherOwner(item, live); other.name != "" || Applied(live, item.Send(), item.Manager()) {
			continue
		}
		if len(observed.returned(item, live)) > 0 {
			continue // it has other fields by then
		}
		items = append(items, item)
	}
	return items
}

// ours reports whether talosgen applies the item at all.
func (i Item) ours() bool { return i.Kustomization == "" || i.Seed }

func (o Observed) served(item Item) bool { return o.Served[Served(item.Object)] }

// engineRules reports whether the item is an engine's, and that looks after it.
func (o Observed) engineRules(item Item) bool {
	k, found := o.progress(item.owner())
	return found && k.rules()
}

// Runs is how far the engine is with what owns an item, and whether that is there.
func (o Observed) Runs(item Item) (k Kustomization, there bool) { return o.progress(item.owner()) }

// otherOwner is what looks after an object that is not, or not any more, its own in
// Git; its name is empty if nothing does.
func (o Observed) otherOwner(item Item, live Object) (none owner) {
	other := o.ownerOf(live)
	if other == item.owner() {
		return none
	}
	if k, found := o.progress(other); !found || !k.rules() {
		return none
	}
	return other
}

// returned is the field manager of an engine, if the item is talosgen's, and has the
// marks of a Kustomization or an Application that does not look after it any more: one
// that is suspended, or gone. With the marks the engine would remove it as soon as it
// looks again.
func (o Observed) returned(item Item, live Object) []string {
	by := o.ownerOf(live)
	if item.Kustomization != "" || by.name == "" || o.otherOwner(item, live).name != "" {
		return nil
	}
	if !slices.Contains(leftOf(item, live), by.engine.manager()) {
		return nil
	}
	return []string{by.engine.manager()}
}

// missingNamespace reports whether the item's namespace is not there.
func (o Observed) missingNamespace(id ID) bool {
	_, found := o.Namespaces[id.Namespace]
	return id.Namespace != "" && !found
}

// terminating reports whether the item's namespace is being deleted.
func (o Observed) terminating(id ID) bool {
	return id.Namespace != "" && o.Namespaces[id.Namespace] || id.Kind == "Namespace" && o.Namespaces[id.Name]
}

// joined is a list for people.
func joined(texts []string) string { return strings.Join(texts, ", ") }

// ReadKustomization reads how far Flux is with a Kustomization.
func ReadKustomization(o Object) Kustomization {
	k := Kustomization{
		Deleting:  o.Text("metadata", "deletionTimestamp") != "",
		Attempted: o.Text("status", "lastAttemptedRevision"),
		Applied:   cmp.Or(o.Text("status", "lastAppliedOriginRevision"), o.Text("status", "lastAppliedRevision")),
	}
	k.Suspended, _ = o.Value("spec", "suspend").(bool)
	if ready := currentCondition(o, "Ready"); ready != nil {
		k.Ready, k.Message = ready.Text("status") == "True", ready.Text("message")
	}
	return k
}

// Stalled reports whether Flux or its operator has stopped with an object, and does
// nothing before it changes.
func Stalled(o Object) bool { return currentCondition(o, "Stalled").Text("status") == "True" }

// currentCondition is a condition of an object as it is now; nil if there is none.
func currentCondition(o Object, kind string) Object {
	for _, entry := range o.List("status", "conditions") {
		m, _ := entry.(map[string]any)
		condition := Object(m)
		observed := condition.Value("observedGeneration")
		if condition.Text("type") == kind && (observed == nil || observed == o.Value("metadata", "generation")) {
			return condition
		}
	}
	return nil
}
