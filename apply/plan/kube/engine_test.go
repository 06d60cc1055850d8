package kube

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
)

const tracked = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, annotations: {argocd.argoproj.io/tracking-id: 'apps:/ConfigMap:ns/a'}}, data: {x: one}}"

// Argo CD marks what it owns, but for definitions; what is in no namespace is marked
// with that of its Application.
func TestArgoCDMarks(t *testing.T) {
	for text, want := range map[string]string{
		config: "apps:/ConfigMap:ns/a",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}":             "apps:rbac.authorization.k8s.io/ClusterRole:into/a",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b.c}}": "",
	} {
		item := Item{Object: object(t, text), Kustomization: "argocd/apps", Engine: EngineArgoCD, Destination: "into"}
		if got := item.Send().Text("metadata", "annotations", trackingID); got != want || item.Manager() != "argocd-controller" || item.Owner() != "Application argocd/apps" {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestArgoCDPlan: what becomes of an object that is Argo CD's, or was.
func TestArgoCDPlan(t *testing.T) {
	byArgo := managed(tracked, entry("argocd-controller", "Apply", "{'f:data': {'f:x': {}}, 'f:metadata': {'f:annotations': {'f:argocd.argoproj.io/tracking-id': {}}}}"))
	running, waiting := Kustomization{Attempted: "0123"}, Kustomization{Attempted: "0123", Suspended: true}
	for _, test := range []struct {
		name, live, owner string
		seed              bool
		application       Kustomization
		action            Action
		want              string // in the reason or the hint
	}{
		{"a seed", "", "argocd/apps", true, Kustomization{}, Create, ""},
		{"a seed that Argo CD looks after", "", "argocd/apps", true, running, ArgoOwns, "Argo CD makes it"},
		{"a seed as Argo CD has it", byArgo, "argocd/apps", true, Kustomization{}, Unchanged, ""},
		{"Argo CD's alone", "", "argocd/apps", false, Kustomization{}, ArgoOwns, "Argo CD makes it"},
		{"talosgen's, and Argo CD has it", byArgo, "", false, running, Conflict, "Application argocd/apps of Argo CD has it"},
		{"talosgen's, and Argo CD waits", byArgo, "", false, waiting, TransferOwnership, "Argo CD made it, and it is talosgen's now"},
	} {
		item := Item{Object: object(t, config), File: "f.yaml", Stage: ArgoCD, Kustomization: test.owner, Seed: test.seed}
		if test.owner != "" {
			item.Engine = EngineArgoCD
		}
		o := Observed{
			API: true, Objects: map[ID]Object{}, Served: map[string]bool{"ConfigMap.v1": true}, Namespaces: map[string]bool{"ns": false},
			Applications: map[string]Kustomization{"argocd/apps": test.application},
		}
		if live := object(t, test.live); live != nil {
			o.Objects[live.ID()] = live
		}
		p := Make(Desired{Items: []Item{item}}, o, plan.Consent{})
		s := p.Steps[0]
		if s.Action != test.action || !strings.Contains(s.Reason, test.want) {
			t.Errorf("%s: %s (%s)", test.name, s.Action, s.Reason)
		}
		if s.Action == Conflict && !strings.Contains(s.conflictHint(), "kubectl annotate application apps -n argocd argocd.argoproj.io/skip-reconcile=true") {
			t.Errorf("%s: %s", test.name, s.conflictHint())
		}
	}
}

// A copy of an object with its annotation is nobody's.
func TestArgoCDOwnerOfCopy(t *testing.T) {
	o := Observed{Applications: map[string]Kustomization{"argocd/apps": {}}}
	for name, want := range map[string]string{"a": "argocd/apps", "b": ""} {
		if got := o.ownerOf(object(t, strings.Replace(tracked, "name: a,", "name: "+name+",", 1))); got.name != want {
			t.Errorf("%s: %q, want %q", name, got.name, want)
		}
	}
}

func TestReadApplication(t *testing.T) {
	const head = "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a, namespace: argocd}, spec: {syncPolicy: {automated: {}}}, status: "
	for status, want := range map[string]Kustomization{
		"{}}": {},
		"{sync: {status: Synced, revision: aa}, health: {status: Healthy}}}":                                                                    {Attempted: "aa", Applied: "aa", Ready: true},
		"{sync: {status: Synced, revision: aa}, health: {status: Progressing}}}":                                                                {Attempted: "aa", Applied: "aa", Message: "Synced, Progressing"},
		"{sync: {status: OutOfSync, revision: bb}, health: {status: Healthy}, operationState: {phase: Succeeded, syncResult: {revision: aa}}}}": {Attempted: "bb", Applied: "aa", Message: "OutOfSync, Healthy"},
		"{sync: {status: OutOfSync, revision: bb}, operationState: {phase: Failed, message: no such field}}}":                                   {Attempted: "bb", Message: "no such field"},
		"{sync: {status: Unknown}, conditions: [{type: ComparisonError, message: no such path}]}}":                                              {Message: "ComparisonError: no such path"},
	} {
		if got := ReadApplication(object(t, head+status)); got != want {
			t.Errorf("%s: %+v", status, got)
		}
	}
	for _, text := range []string{
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {syncPolicy: {automated: {enabled: false}}}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a, annotations: {argocd.argoproj.io/skip-reconcile: 'true'}}, spec: {syncPolicy: {automated: {}}}}",
	} {
		if !ReadApplication(object(t, text)).Suspended {
			t.Error("not suspended: " + text)
		}
	}
}
