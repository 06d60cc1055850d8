package ownership

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// terraformPlan is what `terraform show -json` writes of a plan, as far as it
// matters (developer.hashicorp.com/terraform/internals/json-format).
type terraformPlan struct {
	FormatVersion string `json:"format_version"`
	PlannedValues struct {
		RootModule terraformModule `json:"root_module"`
	} `json:"planned_values"`
}

type terraformModule struct {
	Resources    []terraformResource `json:"resources"`
	ChildModules []terraformModule   `json:"child_modules"`
}

type terraformResource struct {
	Address string         `json:"address"`
	Mode    string         `json:"mode"`
	Type    string         `json:"type"`
	Values  map[string]any `json:"values"`
}

// OfTerraform are the claims of a plan of Terraform or OpenTofu, as JSON: of the
// resources of the providers kubernetes, kubectl, helm and flux. parse reads
// the objects of manifests in it.
func OfTerraform(file string, plan []byte, parse func(file string, text []byte) ([]manifest.Object, error)) ([]Claim, error) {
	var p terraformPlan
	if err := json.Unmarshal(plan, &p); err != nil || p.FormatVersion == "" {
		return nil, diag.New(diag.Pos{File: file}, "this is no plan of Terraform as JSON").
			WithHint("write one with: terraform plan -out plan.bin && terraform show -json plan.bin > plan.json").WithCause(err)
	}
	t := terraform{file: file, parse: parse}
	t.module(p.PlannedValues.RootModule)
	return t.claims, t.problems.Err()
}

type terraform struct {
	file     string
	parse    func(file string, text []byte) ([]manifest.Object, error)
	claims   []Claim
	problems diag.List
}

func (t *terraform) module(m terraformModule) {
	for _, r := range m.Resources {
		if r.Mode == "managed" {
			t.resource(r)
		}
	}
	for _, child := range m.ChildModules {
		t.module(child)
	}
}

func (t *terraform) resource(r terraformResource) {
	c := Claim{Owner: Owner{Terraform, r.Address}, Pos: diag.Pos{File: t.file}}
	switch {
	case r.Type == "kubernetes_manifest":
		if o, ok := r.Values["manifest"].(map[string]any); ok {
			t.claims = append(t.claims, OfObject(o, c)...)
		}
	case r.Type == "kubectl_manifest":
		objects, err := t.parse(t.file+": "+r.Address, []byte(manifest.Text(r.Values["yaml_body"])))
		t.problems.AddErr(err)
		for _, o := range objects {
			t.claims = append(t.claims, OfObject(o, c)...)
		}
	case r.Type == "helm_release":
		t.release(r, c)
	case strings.HasPrefix(r.Type, "flux_bootstrap"):
		c.Thing, c.Player = Thing{Role: GitOps}, "flux"
		t.claims = append(t.claims, c)
	case strings.HasPrefix(r.Type, "kubernetes_"):
		t.typed(r, c)
	}
}

func (t *terraform) release(r terraformResource, c Claim) {
	namespace := cmp.Or(manifest.Text(r.Values["namespace"]), "default")
	release := c
	release.Thing = Thing{Object: manifest.ID{Kind: "Helm release", Namespace: namespace, Name: manifest.Text(r.Values["name"])}}
	t.claims = append(t.claims, release)
	chart := manifest.Text(r.Values["chart"])
	t.claims = append(t.claims, chartClaims(chart[strings.LastIndexByte(chart, '/')+1:], namespace, t.values(r), c)...)
}

// values are the values of a release: texts of YAML, of which later ones win.
// They are merged at their first level only, which is where the options are
// that matter here.
func (t *terraform) values(r terraformResource) map[string]any {
	all := map[string]any{}
	for _, in := range manifest.Texts(r.Values["values"]) {
		var layer map[string]any
		if err := yaml.Unmarshal([]byte(in), &layer); err != nil {
			t.problems.Add(diag.On(t.file+": "+r.Address, "its values are no YAML").WithCause(err))
		}
		maps.Copy(all, layer)
	}
	return all
}

// typed claims the object of a resource that has a kind of its own, such as
// kubernetes_config_map_v1.
func (t *terraform) typed(r terraformResource, c Claim) {
	kind := strings.TrimPrefix(r.Type, "kubernetes_")
	for _, version := range []string{"_v1", "_v2", "_v1beta1"} {
		kind = strings.TrimSuffix(kind, version)
	}
	api, known := terraformKinds[kind]
	metadata, _ := r.Values["metadata"].([]any)
	if !known || len(metadata) == 0 {
		return
	}
	m, _ := metadata[0].(map[string]any)
	id := manifest.ID{Group: api.group, Kind: api.kind, Name: manifest.Text(m["name"])}
	if api.namespaced {
		id.Namespace = cmp.Or(manifest.Text(m["namespace"]), "default")
	}
	o := manifest.Object{"apiVersion": strings.TrimPrefix(api.group+"/v1", "/"), "kind": api.kind,
		"metadata": map[string]any{"name": id.Name, "namespace": id.Namespace}, "data": r.Values["data"]}
	t.claims = append(t.claims, OfObject(o, c)...)
}

type terraformKind struct {
	group, kind string
	namespaced  bool
}

// terraformKinds are the resources of the provider kubernetes
// (registry.terraform.io/providers/hashicorp/kubernetes), without versions.
var terraformKinds = map[string]terraformKind{
	"namespace":                 {"", "Namespace", false},
	"config_map":                {"", "ConfigMap", true},
	"config_map_data":           {"", "ConfigMap", true},
	"secret":                    {"", "Secret", true},
	"service":                   {"", "Service", true},
	"service_account":           {"", "ServiceAccount", true},
	"persistent_volume":         {"", "PersistentVolume", false},
	"persistent_volume_claim":   {"", "PersistentVolumeClaim", true},
	"limit_range":               {"", "LimitRange", true},
	"resource_quota":            {"", "ResourceQuota", true},
	"deployment":                {"apps", "Deployment", true},
	"daemonset":                 {"apps", "DaemonSet", true},
	"daemon_set":                {"apps", "DaemonSet", true},
	"stateful_set":              {"apps", "StatefulSet", true},
	"job":                       {"batch", "Job", true},
	"cron_job":                  {"batch", "CronJob", true},
	"ingress":                   {"networking.k8s.io", "Ingress", true},
	"ingress_class":             {"networking.k8s.io", "IngressClass", false},
	"network_policy":            {"networking.k8s.io", "NetworkPolicy", true},
	"role":                      {rbac, "Role", true},
	"role_binding":              {rbac, "RoleBinding", true},
	"cluster_role":              {rbac, "ClusterRole", false},
	"cluster_role_binding":      {rbac, "ClusterRoleBinding", false},
	"storage_class":             {"storage.k8s.io", "StorageClass", false},
	"csi_driver":                {"storage.k8s.io", "CSIDriver", false},
	"priority_class":            {"scheduling.k8s.io", "PriorityClass", false},
	"pod_disruption_budget":     {"policy", "PodDisruptionBudget", true},
	"horizontal_pod_autoscaler": {"autoscaling", "HorizontalPodAutoscaler", true},
	"api_service":               {"apiregistration.k8s.io", "APIService", false},
}
