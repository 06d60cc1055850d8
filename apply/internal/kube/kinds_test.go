package kube

import (
	"encoding/base64"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
)

// removal is a field that Git has at first and not later. The path names keys of
// maps and indexes of lists; one that ends with [] adds an element to a list.
type removal struct {
	path  string
	value any
}

// removals have a field for every kind that a rendered tree may have. A kind that
// is missing here fails [TestEveryKindHasRemoval]: give it a field that may be
// absent, and that Kubernetes lets change.
var removals = map[string]removal{
	"APIService.apiregistration.k8s.io":            {"spec.service.port", int64(8443)},
	"CSIDriver.storage.k8s.io":                     {"spec.tokenRequests[]", map[string]any{"audience": "removed"}},
	"ClusterRole.rbac.authorization.k8s.io":        {"rules[]", someRule()},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {"subjects[]", someSubject()},
	"ConfigMap":     {"data.removed", "removed"},
	"CronJob.batch": {"spec.startingDeadlineSeconds", int64(77)},
	"CustomResourceDefinition.apiextensions.k8s.io": {"spec.names.categories[]", "removed"},
	"DaemonSet.apps":                            {"spec.template.spec.containers.0.env[]", map[string]any{"name": "REMOVED", "value": "x"}},
	"Deployment.apps":                           {"spec.template.spec.containers.0.env[]", map[string]any{"name": "REMOVED", "value": "x"}},
	"GitRepository.source.toolkit.fluxcd.io":    {"spec.recurseSubmodules", true},
	"HorizontalPodAutoscaler.autoscaling":       {"spec.minReplicas", int64(2)},
	"Kustomization.kustomize.toolkit.fluxcd.io": {"spec.serviceAccountName", "removed"},
	"Namespace":                             {"metadata.labels.of-namespace", "removed"},
	"NetworkPolicy.networking.k8s.io":       {"spec.egress[]", map[string]any{"to": []any{map[string]any{"ipBlock": map[string]any{"cidr": "192.0.2.0/24"}}}}},
	"PodDisruptionBudget.policy":            {"spec.unhealthyPodEvictionPolicy", "AlwaysAllow"},
	"PriorityClass.scheduling.k8s.io":       {"description", "removed"},
	"Role.rbac.authorization.k8s.io":        {"rules[]", someRule()},
	"RoleBinding.rbac.authorization.k8s.io": {"subjects[]", someSubject()},
	"Secret":                                {"data.removed", base64.StdEncoding.EncodeToString([]byte("removed"))},
	"Service":                               {"spec.ports[]", map[string]any{"name": "removed", "port": int64(7777), "targetPort": int64(7777), "protocol": "TCP"}},
	"ServiceAccount":                        {"imagePullSecrets[]", map[string]any{"name": "removed"}},
	"StorageClass.storage.k8s.io":           {"mountOptions[]", "noatime"},
	"IngressClass.networking.k8s.io":        {"metadata.labels.of-class", "removed"},
	"Ingress.networking.k8s.io":             {"spec.ingressClassName", "removed"},
	"StatefulSet.apps":                      {"spec.template.spec.containers.0.env[]", map[string]any{"name": "REMOVED", "value": "x"}},
	"LimitRange":                            {"spec.limits.0.default.cpu", "1"},
	"ResourceQuota":                         {"spec.hard.pods", "77"},
	"ValidatingWebhookConfiguration.admissionregistration.k8s.io":   {"webhooks.0.objectSelector.matchLabels.removed", "x"},
	"MutatingWebhookConfiguration.admissionregistration.k8s.io":     {"webhooks.0.objectSelector.matchLabels.removed", "x"},
	"ValidatingAdmissionPolicy.admissionregistration.k8s.io":        {"spec.auditAnnotations[]", map[string]any{"key": "removed", "valueExpression": "'x'"}},
	"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": {"spec.validationActions[]", "Audit"},
	"Thing": {"spec.removed", "removed"}, // of everyKind: a custom resource
	"CiliumClusterwideNetworkPolicy.cilium.io": {"spec.description", "removed"},
	"ServiceAccount.talos.dev":                 {"spec.roles[]", "os:removed"},
}

func someRule() any {
	return map[string]any{"apiGroups": []any{""}, "resources": []any{"removed"}, "verbs": []any{"get"}}
}

func someSubject() any {
	return map[string]any{"kind": "User", "name": "removed", "apiGroup": "rbac.authorization.k8s.io"}
}

// removalOf is the case of an object's kind.
func removalOf(o manifest.Object) (removal, bool) {
	id := o.ID()
	kind := strings.TrimSuffix(id.Kind+"."+id.Group, ".")
	if strings.HasSuffix(id.Group, ".example.org") {
		kind = id.Kind // the group of a test
	}
	r, found := removals[kind]
	return r, found
}

// grown is an object with the field.
func (r removal) grown(o manifest.Object) manifest.Object {
	o = copied(o)
	keys, isList := r.keys()
	var at any = map[string]any(o)
	for i, key := range keys {
		last := i == len(keys)-1
		if list, ok := at.([]any); ok {
			n, _ := strconv.Atoi(key)
			at = list[n]
			continue
		}
		m := at.(map[string]any)
		switch {
		case last && isList:
			list, _ := m[key].([]any)
			m[key] = append(slices.Clone(list), r.value)
		case last:
			m[key] = r.value
		case m[key] == nil:
			m[key] = map[string]any{}
		}
		at = m[key]
	}
	return o
}

func (r removal) keys() (keys []string, isList bool) {
	path, isList := strings.CutSuffix(r.path, "[]")
	return strings.Split(path, "."), isList
}

// in reports whether an object has the field, with the value.
func (r removal) in(o manifest.Object) bool {
	keys, isList := r.keys()
	var at any = map[string]any(o)
	for _, key := range keys {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			n, _ := strconv.Atoi(key)
			at = v[n]
		}
	}
	if list, ok := at.([]any); ok && isList {
		return slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, r.value) })
	}
	return reflect.DeepEqual(at, r.value)
}

// copied is an object that shares nothing with another one.
func copied(o manifest.Object) manifest.Object {
	var deep func(v any) any
	deep = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			m := map[string]any{}
			for k, e := range v {
				m[k] = deep(e)
			}
			return m
		case []any:
			l := []any{}
			for _, e := range v {
				l = append(l, deep(e))
			}
			return l
		}
		return v
	}
	return deep(map[string]any(o)).(map[string]any)
}

// shippedObjects are all objects of the shipped environments, each once, with
// other values in Secrets.
func shippedObjects(t testing.TB) (objects []manifest.Object) {
	t.Helper()
	rendered := os.DirFS("../../../rendered")
	seen := map[manifest.ID]bool{}
	err := fs.WalkDir(rendered, ".", func(name string, d fs.DirEntry, err error) error {
		parts := strings.Split(name, "/")
		if err != nil || d.IsDir() || len(parts) < 3 || path.Base(name) == "kustomization.yaml" ||
			!slices.Contains([]string{"bootstrap", "addons", "flux"}, parts[1]) {
			return err
		}
		text, err := fs.ReadFile(rendered, name)
		if err != nil {
			return err
		}
		found, err := manifest.Parse(name, text)
		for _, o := range found {
			if !seen[o.ID()] {
				seen[o.ID()] = true
				objects = append(objects, readable(o))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// readable is an object without encryption.
func readable(o manifest.Object) manifest.Object {
	o = copied(o)
	delete(o, "sops")
	if o.IsSecret() {
		for key := range o.Map("data") {
			o.Map("data")[key] = base64.StdEncoding.EncodeToString([]byte("value of " + key))
		}
	}
	return o
}

// chartKinds are objects of kinds that charts bring often, and the shipped
// environments do not have. Nothing is ever asked of the webhooks.
func chartKinds(namespace string) string {
	in := "namespace: " + namespace
	webhook := "webhooks: [{name: a.example.org, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {url: 'https://127.0.0.1:1'}, " +
		"objectSelector: {matchLabels: {nobody: has}}, rules: [{apiGroups: [nobody.example.org], apiVersions: [v1], resources: [things], operations: [CREATE]}]}]"
	return strings.Join([]string{
		"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: " + namespace + "}, spec: {controller: example.org/c}}",
		"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, " + in + "}, spec: {rules: [{host: a.example.org, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: operator, port: {number: 80}}}}]}}]}}",
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, " + in + "}, spec: {replicas: 0, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: 'example.org/d:1'}]}}, " +
			"volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}]}}",
		"{apiVersion: v1, kind: LimitRange, metadata: {name: limits, " + in + "}, spec: {limits: [{type: Container, default: {memory: 64Mi}, defaultRequest: {memory: 32Mi}}]}}",
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota, " + in + "}, spec: {hard: {services: '77'}}}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: " + namespace + "}, " + webhook + "}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: " + namespace + "}, " + webhook + "}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: " + namespace + "}, spec: {matchConstraints: {resourceRules: [{apiGroups: [nobody.example.org], apiVersions: [v1], resources: [things], operations: [CREATE]}]}, validations: [{expression: 'true'}]}}",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: " + namespace + "}, spec: {policyName: " + namespace + ", validationActions: [Warn]}}",
	}, "\n---\n")
}

// TestEveryKindHasRemoval fails if an environment has a kind that the tests of
// take-overs do not know.
func TestEveryKindHasRemoval(t *testing.T) {
	objects := shippedObjects(t)
	if len(objects) < 40 {
		t.Errorf("only %d objects", len(objects))
	}
	for _, o := range objects {
		r, found := removalOf(o)
		switch {
		case !found:
			t.Errorf("%s: no case for its kind in removals", o.ID())
		case r.in(o) || !r.in(r.grown(o)):
			t.Errorf("%s: %s is there before, or not after it was added", o.ID(), r.path)
		}
	}
}

// ofVariant is an object under other names, so that a cluster can have it several
// times. Nothing of it runs, and Flux does nothing with those of its own kinds.
func ofVariant(o manifest.Object, variant string) manifest.Object {
	o = copied(o)
	metadata := o.Map("metadata")
	metadata["name"] = variant + "-" + o.Name()
	if o.Namespace() != "" {
		metadata["namespace"] = variant
	}
	switch id := o.ID(); {
	case id.Kind == "APIService":
		o.Map("spec")["group"] = variant + "." + o.Text("spec", "group")
		metadata["name"] = o.Text("spec", "version") + "." + o.Text("spec", "group")
	case id.Kind == "Deployment":
		o.Map("spec")["replicas"] = int64(0)
	case strings.HasSuffix(id.Group, ".toolkit.fluxcd.io"):
		o.Map("spec")["suspend"] = true
		if id.Kind == "Kustomization" {
			o.Map("spec")["path"] = "./nowhere"
		}
	}
	return o
}

// doomed is another object of the same kind, which goes as a whole.
func doomed(o manifest.Object) manifest.Object {
	o = copied(o)
	metadata := o.Map("metadata")
	metadata["name"] = o.Name() + "-gone"
	delete(o.Map("metadata", "annotations"), "kustomize.toolkit.fluxcd.io/prune")
	switch o.Kind() {
	case "APIService":
		o.Map("spec")["group"] = "gone." + o.Text("spec", "group")
		metadata["name"] = o.Text("spec", "version") + "." + o.Text("spec", "group")
	case "CustomResourceDefinition":
		maps.Copy(o.Map("spec", "names"), map[string]any{"kind": "Gone", "plural": "gones"})
		metadata["name"] = "gones." + o.Text("spec", "group")
	}
	return o
}
