package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/kube/kubetree"
	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// tree are files of a rendered tree, by path.
type tree map[string]string

func (f tree) read(t testing.TB) kubeplan.Desired {
	t.Helper()
	files := map[string][]byte{}
	for name, text := range f {
		files[name] = []byte(text)
	}
	desired, err := kubetree.Read("demo", kubetree.Tree{Env: "dev", Files: files, Normalize: Normalize})
	if err != nil {
		t.Fatal(err)
	}
	return desired
}

// run is a client of a real API with what it said.
type run struct {
	t      testing.TB
	client *Client
	told   []string
	waits  Waiting
	before func(context.Context) error
}

func newRun(t testing.TB, c *kubeenv.Cluster) *run {
	t.Helper()
	o := realOptions(t, c)
	o.Within, o.Patience = 30*time.Second, 30*time.Second
	client, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	client.conn.clock = newPatientClock() // certificates are looked at by the machine's
	return &run{t: t, client: client}
}

// forget lets a test begin without what others made in the same cluster: it
// would be theirs to delete.
func forget(t testing.TB, c *kubeenv.Cluster) {
	t.Helper()
	if path := configMaps.path(inventoryNamespace, inventoryName); c.Get(t, path) != nil {
		c.Delete(t, path)
	}
}

// plan observes and plans.
func (r *run) plan(desired kubeplan.Desired, policy plan.Consent) *kubeplan.Plan {
	r.t.Helper()
	observed := r.observe(desired)
	trials, err := r.client.Trials(r.t.Context(), kubeplan.Trials(desired, observed))
	if err != nil {
		r.t.Fatal(err)
	}
	observed.Trials = trials
	return kubeplan.Make(desired, observed, policy)
}

func (r *run) observe(desired kubeplan.Desired) kubeplan.Observed {
	r.t.Helper()
	observed, err := r.client.Observe(r.t.Context(), desired)
	if err != nil {
		r.t.Fatal(err)
	}
	return observed
}

// execute makes the changes of a plan.
func (r *run) execute(p *kubeplan.Plan) error {
	r.t.Helper()
	stage := progress.Begin(func(e progress.Event) { r.told = append(r.told, fmt.Sprint(e.State, " ", e.Step, " ", e.Text)) }, "kubernetes", 0)
	e := Executor{Client: r.client, Waits: r.waits, Stage: stage, Before: r.before}
	_, err := e.Execute(r.t.Context(), p)
	return err
}

// apply makes everything as desired.
func (r *run) apply(f tree, policy plan.Consent) *kubeplan.Plan {
	r.t.Helper()
	p := r.plan(f.read(r.t), policy)
	if err := errors.Join(p.Problems(), p.Edited()); err != nil {
		r.t.Fatalf("not executable: %v\n%s", err, p)
	}
	if err := r.execute(p); err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.told, "\n"))
	}
	return p
}

// inSync fails if there is something to do.
func (r *run) inSync(f tree) {
	r.t.Helper()
	if p := r.plan(f.read(r.t), plan.Consent{}); !p.InSync() || len(p.Warnings) > 0 {
		r.t.Errorf("it is not in sync:\n%s", p)
	}
}

// everyKind is a tree with an object of every kind that bootstrap/ has.
func everyKind(namespace string) tree {
	in := "namespace: " + namespace
	return tree{
		"bootstrap/cilium/manifests.yaml": strings.Join([]string{
			"{apiVersion: v1, kind: Namespace, metadata: {name: " + namespace + ", labels: {pod-security.kubernetes.io/enforce: privileged}}}",
			"{apiVersion: v1, kind: ServiceAccount, metadata: {name: agent, " + in + "}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: config, " + in + ", annotations: {a.example/b: c}}, data: {x: '1', y.z: a}}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + namespace + "}, rules: [{apiGroups: [''], resources: [pods, nodes], verbs: [get, list]}]}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + namespace + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + namespace + "}, subjects: [{kind: ServiceAccount, name: agent, " + in + "}]}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, " + in + "}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: r, " + in + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: agent, " + in + "}]}",
			"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, " + in + "}, spec: {selector: {matchLabels: {app: agent}}, updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, template: {metadata: {labels: {app: agent}}, spec: {" +
				"hostNetwork: true, tolerations: [{operator: Exists}], containers: [{name: agent, image: 'example.org/a:1', args: [a, b], env: [{name: A, value: b}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}], resources: {requests: {cpu: 100m, memory: 64Mi}}, " +
				"ports: [{containerPort: 80}], securityContext: {capabilities: {add: [NET_ADMIN], drop: [ALL]}}, volumeMounts: [{name: d, mountPath: /d}]}], volumes: [{name: d, emptyDir: {}}, {name: h, hostPath: {path: /run, type: DirectoryOrCreate}}]}}}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, " + in + "}, spec: {replicas: 0, selector: {matchLabels: {app: operator}}, template: {metadata: {labels: {app: operator}}, spec: {containers: [{name: operator, image: 'example.org/o:1', livenessProbe: {httpGet: {path: /healthz, port: 9234}, periodSeconds: 10}}]}}}}",
			"{apiVersion: v1, kind: Service, metadata: {name: operator, " + in + "}, spec: {selector: {app: operator}, ports: [{name: web, port: 80, targetPort: 8080}]}}",
			"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: operator, " + in + "}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: operator}}}}",
			"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: deny, " + in + "}, spec: {podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [169.254.169.254/32]}}]}]}}",
			"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + namespace + "}, value: 1000}",
			"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " + namespace + "}, provisioner: csi.hetzner.cloud, volumeBindingMode: WaitForFirstConsumer, allowVolumeExpansion: true}",
			"{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: " + namespace + ".example.org}, spec: {attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: [Persistent]}}",
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things." + namespace + ".example.org}, spec: {group: " + namespace + ".example.org, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}",
			"{apiVersion: " + namespace + ".example.org/v1, kind: Thing, metadata: {name: one, " + in + "}, spec: {a: 1, b: [x, w], c: {d: true}}}",
			"{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, " + in + "}, spec: {schedule: '0 3 * * *', suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: b, image: 'example.org/b:1'}]}}}}}}",
			"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: operator, " + in + "}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: operator}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}",
		}, "\n---\n"),
		"bootstrap/hcloud-ccm/secret-hcloud.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: hcloud, " + in + "}, stringData: {token: " + canary + ", network: net}}",
	}
}

const canary = "canary-of-the-provider-token"

// TestApply makes a tree in a real cluster; the second time there is nothing to
// do, and nothing that has to be tried.
func TestApply(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	files := everyKind("every-kind")
	first := r.apply(files, plan.Consent{})
	if n := len(first.Changes()); n != len(first.Steps) {
		t.Errorf("%d of %d are new", n, len(first.Steps))
	}
	desired := files.read(t)
	// Flux' normal form has empty fields, such as the strategy of a Deployment,
	// where the API fills in defaults: whether they are the same only it knows.
	var tried []string
	for _, i := range kubeplan.Trials(desired, r.observe(desired)) {
		tried = append(tried, i.Object.Kind())
	}
	if want := []string{"Namespace", "DaemonSet", "Deployment"}; !slices.Equal(tried, want) {
		t.Errorf("tried: %q, want %q", tried, want)
	}
	r.inSync(files)
	if reported := strings.Join(r.told, "\n"); strings.Contains(reported, canary) || strings.Contains(fmt.Sprintf("%+v %#v", first, first.Steps), canary) {
		t.Error("the token was told")
	}

	// A changed field, a removed key, an object that is gone.
	name := "bootstrap/cilium/manifests.yaml"
	files[name] = strings.NewReplacer("example.org/a:1", "example.org/a:2", "x: '1', ", "", "maxUnavailable: 2", "maxUnavailable: 3").Replace(files[name])
	files["bootstrap/hcloud-ccm/secret-hcloud.yaml"] = strings.Replace(files["bootstrap/hcloud-ccm/secret-hcloud.yaml"], ", network: net", "", 1)
	documents := strings.Split(files[name], "\n---\n")
	files[name] = strings.Join(slices.DeleteFunc(documents, func(d string) bool { return strings.Contains(d, "kind: PodDisruptionBudget") }), "\n---\n")
	p := r.plan(files.read(t), plan.Consent{})
	if got := p.String(); got != changedPlan {
		t.Errorf("the plan is\n%s\nwant\n%s", got, changedPlan)
	}
	r.apply(files, plan.Consent{Allow: []string{"PodDisruptionBudget.policy/every-kind/operator"}})
	r.inSync(files)
}

const changedPlan = `demo, Kubernetes: 3 to change, 1 to delete, 16 unchanged
cni:
  ~ ConfigMap/every-kind/config
      data.x: - 1
  ~ DaemonSet.apps/every-kind/agent
      spec.template.spec.containers[agent].image: example.org/a:1 -> example.org/a:2
      spec.updateStrategy.rollingUpdate.maxUnavailable: 2 -> 3
provider:
  ~ Secret/every-kind/hcloud
      data.network: - ******
not in Git any more:
  - PodDisruptionBudget.policy/every-kind/operator  (it is not in Git any more; needs consent)
consent is missing:
  --allow PodDisruptionBudget.policy/every-kind/operator
`

// TestPlanSaysAll plans a tree of which some is there and some is not: each object
// has its line, with what becomes of it and why.
func TestPlanSaysAll(t *testing.T) {
	c := kubeenv.Start(t)
	forget(t, c)
	r := newRun(t, c)
	const in = "namespace: says-all"
	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: says-all}}"
	configMap := func(name, data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", " + in + "}, data: {" + data + "}}"
	}
	secret := "{apiVersion: v1, kind: Secret, metadata: {name: replaced, " + in + "}, type: TYPE, data: {x: eA==}}"
	r.apply(tree{"bootstrap/a/a.yaml": strings.Join([]string{
		namespace, configMap("same", "x: one"), configMap("changed", "w: two, x: one"), configMap("gone", "x: one"), strings.Replace(secret, "TYPE", "Opaque", 1),
	}, "\n---\n")}, plan.Consent{})
	c.Apply(t, "helm", false, configMap("others", "x: two"))
	files := tree{
		"bootstrap/a/a.yaml": strings.Join([]string{
			namespace, configMap("same", "x: one"), configMap("changed", "x: two, z: three"), configMap("new", "x: one"),
			strings.Replace(secret, "TYPE", "example.org/other", 1),
			"{apiVersion: example.org/v1, kind: Unknown, metadata: {name: waits, " + in + "}}",
		}, "\n---\n"),
		"bootstrap/b/a.yaml": configMap("others", "x: one"),
		"flux/a.yaml":        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, namespace: flux-system}, spec: {path: ./rendered/dev/addons/a}}",
		"addons/a/a.yaml":    configMap("of-flux", "x: one"),
	}
	const want = `demo, Kubernetes: 1 to create, 1 to change, 1 to replace, 1 in conflict, 3 waiting, 2 unchanged, 1 of Flux
provider:
  ~ ConfigMap/says-all/changed
      data.w: - two
      data.x: one -> two
      data.z: + three
  + ConfigMap/says-all/new
  ! ConfigMap/says-all/others  (fields of it are of helm)
      data.x is of helm
  ± Secret/says-all/replaced  (type cannot be changed on an object that is there; needs consent)
  … Unknown.example.org/says-all/waits  (the API serves no Unknown.example.org/v1, and the tree does not define it)
sources:
  … Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps  (the API serves no Kustomization.kustomize.toolkit.fluxcd.io/v1, and the tree does not define it: Flux is not installed yet)
not in Git any more:
  … ConfigMap/says-all/gone  (until the conflict of ConfigMap/says-all/others is over)
consent is missing:
  --allow Secret/says-all/replaced
`
	if got := r.plan(files.read(t), plan.Consent{}).String(); got != want {
		t.Errorf("the plan is\n%s\nwant\n%s", got, want)
	}
}

// document is an object as text that the test bed reads: JSON is YAML.
func document(t testing.TB, o kubeplan.Object) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
