package catalogue_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// kinds are the types of what is built in.
var kinds = map[string]func() any{
	"v1 ConfigMap":                                    func() any { return &corev1.ConfigMap{} },
	"v1 Secret":                                       func() any { return &corev1.Secret{} },
	"v1 Service":                                      func() any { return &corev1.Service{} },
	"v1 ServiceAccount":                               func() any { return &corev1.ServiceAccount{} },
	"apps/v1 DaemonSet":                               func() any { return &appsv1.DaemonSet{} },
	"apps/v1 Deployment":                              func() any { return &appsv1.Deployment{} },
	"batch/v1 CronJob":                                func() any { return &batchv1.CronJob{} },
	"networking.k8s.io/v1 NetworkPolicy":              func() any { return &networkingv1.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":                   func() any { return &policyv1.PodDisruptionBudget{} },
	"rbac.authorization.k8s.io/v1 ClusterRole":        func() any { return &rbacv1.ClusterRole{} },
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": func() any { return &rbacv1.ClusterRoleBinding{} },
	"rbac.authorization.k8s.io/v1 Role":               func() any { return &rbacv1.Role{} },
	"rbac.authorization.k8s.io/v1 RoleBinding":        func() any { return &rbacv1.RoleBinding{} },
	"storage.k8s.io/v1 CSIDriver":                     func() any { return &storagev1.CSIDriver{} },
	"storage.k8s.io/v1 StorageClass":                  func() any { return &storagev1.StorageClass{} },
	"apiregistration.k8s.io/v1 APIService":            func() any { return &apiService{} },
	"talos.dev/v1alpha1 ServiceAccount":               func() any { return &talosServiceAccount{} },
	"cilium.io/v2 CiliumClusterwideNetworkPolicy":     func() any { return &ciliumPolicy{} },
	"snapshot.storage.k8s.io/v1 VolumeSnapshotClass":  func() any { return &snapshotClass{} },
}

// What k8s.io/api does not have, as far as it is used here.
type (
	object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
	}
	apiService struct {
		object
		Spec struct {
			Group   string `json:"group"`
			Version string `json:"version"`
			Service struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
				Port      int32  `json:"port"`
			} `json:"service"`
			InsecureSkipTLSVerify bool  `json:"insecureSkipTLSVerify"`
			GroupPriorityMinimum  int32 `json:"groupPriorityMinimum"`
			VersionPriority       int32 `json:"versionPriority"`
		} `json:"spec"`
	}
	talosServiceAccount struct {
		object
		Spec struct {
			Roles []string `json:"roles"`
		} `json:"spec"`
	}
	snapshotClass struct {
		object
		Driver         string            `json:"driver"`
		DeletionPolicy string            `json:"deletionPolicy"`
		Parameters     map[string]string `json:"parameters"`
	}
	ciliumPolicy struct {
		object
		Spec struct {
			Description       string         `json:"description"`
			EndpointSelector  map[string]any `json:"endpointSelector"`
			EnableDefaultDeny struct {
				Egress  bool `json:"egress"`
				Ingress bool `json:"ingress"`
			} `json:"enableDefaultDeny"`
			EgressDeny []struct {
				ToCIDR []string `json:"toCIDR"`
			} `json:"egressDeny"`
		} `json:"spec"`
	}
)

// everyAddon calls visit with the addons of each case that has some.
func everyAddon(t *testing.T, visit func(t *testing.T, c testCase, all []catalogue.Addon)) {
	t.Helper()
	visited := 0
	for _, c := range cases(t) {
		f, problems := c.facts(t)
		if problems != nil {
			continue
		}
		all, err := catalogue.Addons(f)
		if err != nil {
			continue // as its file says
		}
		visited++
		t.Run(c.name, func(t *testing.T) { visit(t, c, all) })
	}
	if visited < 10 {
		t.Errorf("only %d cases have addons", visited)
	}
}

// No field is misspelt, none has the wrong type.
func TestObjectsAreStrict(t *testing.T) {
	seen := map[string]bool{}
	everyAddon(t, func(t *testing.T, _ testCase, all []catalogue.Addon) {
		for _, a := range all {
			for _, o := range a.Objects {
				kind := o.APIVersion() + " " + o.Kind()
				seen[kind] = true
				if kinds[kind] == nil {
					t.Errorf("%s: nobody knows %s", a.Name, kind)
				} else if err := strict(o, kinds[kind]()); err != nil {
					t.Errorf("%s: %s: %v", a.Name, o.ID(), err)
				}
			}
		}
	})
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no case has a %s", kind)
		}
	}
}

func strict(o manifest.Object, into any) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func TestStrictFindsTypos(t *testing.T) {
	o := manifest.Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a", "nmaespace": "b"}}
	if strict(o, &corev1.Secret{}) == nil {
		t.Error("a misspelt field was taken")
	}
}

// What is secret is in Secrets alone, and in digests, which render replaces.
func TestSecretsAreInSecretsAlone(t *testing.T) {
	found := 0
	everyAddon(t, func(t *testing.T, c testCase, all []catalogue.Addon) {
		f, _ := c.facts(t)
		for _, a := range all {
			clear := []any{a.Values, a.Warnings, a.Source}
			for _, o := range a.Objects {
				if o.Kind() == "Secret" {
					found++
					continue
				}
				clear = append(clear, o)
			}
			text := fmt.Sprint(clear...)
			for name, s := range f.Secrets {
				if strings.Contains(text, s.Reveal()) {
					t.Errorf("%s shows %s", a.Name, name)
				}
			}
			for pool, s := range f.Autoscaled {
				packed, err := catalogue.UserData([]byte(s.Reveal()))
				if err != nil || strings.Contains(text, packed) || strings.Contains(text, "canary") {
					t.Errorf("%s shows the configuration of %s (%v)", a.Name, pool, err)
				}
			}
		}
	})
	if found == 0 {
		t.Error("there are no Secrets")
	}
}

// References lead somewhere, and no object is there twice.
func TestObjectsFitTogether(t *testing.T) {
	everyAddon(t, func(t *testing.T, _ testCase, all []catalogue.Addon) {
		owner := map[string]string{
			"Secret/kube-system/talos-backup-secrets": "Talos", "Secret/backup/talos-backup-secrets": "Talos",
		}
		for _, a := range all {
			for _, o := range a.Objects {
				id := o.ID().String()
				if owner[id] != "" {
					t.Errorf("%s is of %s and %s", id, owner[id], a.Name)
				}
				owner[id] = a.Name
			}
		}
		for _, a := range all {
			for _, o := range a.Objects {
				for _, reference := range referencesOf(o) {
					if owner[reference] == "" {
						t.Errorf("%s: %s refers to %s, which is not there", a.Name, o.ID(), reference)
					}
				}
			}
		}
	})
}

// referencesOf lists the service accounts and Secrets that an object names.
func referencesOf(o manifest.Object) (all []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case manifest.Object:
			walk(map[string]any(v))
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if v["kind"] == "ServiceAccount" && v["namespace"] != nil && v["apiVersion"] == nil {
				if name := fmt.Sprint("ServiceAccount/", v["namespace"], "/", v["name"]); v["metadata"] == nil {
					all = append(all, name)
				}
			}
			for key, item := range v {
				switch name := ""; key {
				case "serviceAccountName":
					all = append(all, fmt.Sprint("ServiceAccount/", o.Namespace(), "/", item))
				case "secretKeyRef":
					name = fmt.Sprint(item.(map[string]any)["name"])
					all = append(all, "Secret/"+o.Namespace()+"/"+name)
				case "secretRef":
					all = append(all, fmt.Sprint("Secret/", o.Namespace(), "/", item.(map[string]any)["name"]))
				case "providerRef":
					all = append(all, fmt.Sprint("Provider.", o.ID().Group, "/", o.Namespace(), "/", item.(map[string]any)["name"]))
				case "secretName":
					all = append(all, fmt.Sprint("Secret/", o.Namespace(), "/", item))
				}
				walk(item)
			}
		}
	}
	walk(o)
	return all
}

// Pods pass the level that their namespace is labelled with: kube-system lets
// everything in.
func TestPodsPassPodSecurity(t *testing.T) {
	checked := 0
	everyAddon(t, func(t *testing.T, _ testCase, all []catalogue.Addon) {
		for _, a := range all {
			for _, o := range a.Objects {
				spec := podOf(t, o)
				if spec == nil || o.Namespace() == "kube-system" {
					continue
				}
				checked++
				for _, problem := range notRestricted(*spec) {
					t.Errorf("%s: %s: %s", a.Name, o.ID(), problem)
				}
			}
		}
	})
	if checked == 0 {
		t.Error("there are no pods outside of kube-system")
	}
}

func podOf(t *testing.T, o manifest.Object) *corev1.PodSpec {
	t.Helper()
	if kinds[o.APIVersion()+" "+o.Kind()] == nil {
		return nil
	}
	typed := kinds[o.APIVersion()+" "+o.Kind()]()
	if err := strict(o, typed); err != nil {
		t.Fatal(err)
	}
	switch w := typed.(type) {
	case *appsv1.Deployment:
		return &w.Spec.Template.Spec
	case *appsv1.DaemonSet:
		return &w.Spec.Template.Spec
	case *batchv1.CronJob:
		return &w.Spec.JobTemplate.Spec.Template.Spec
	}
	return nil
}

// notRestricted lists what keeps a pod out of a namespace of the level
// restricted.
func notRestricted(pod corev1.PodSpec) (problems []string) {
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		problems = append(problems, "it uses a namespace of the host")
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			problems = append(problems, "it mounts "+v.HostPath.Path)
		}
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.RunAsNonRoot == nil || !*s.RunAsNonRoot ||
			s.SeccompProfile == nil || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
			problems = append(problems, "container "+c.Name+" may do too much")
		}
	}
	return problems
}

// Images have exact versions, and containers ask for what they need.
func TestImagesHaveVersions(t *testing.T) {
	everyAddon(t, func(t *testing.T, _ testCase, all []catalogue.Addon) {
		for _, a := range all {
			for _, o := range a.Objects {
				spec := podOf(t, o)
				if spec == nil {
					continue
				}
				for _, c := range spec.Containers {
					name, tag, found := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
					if !found || tag == "" || tag == "latest" || name == "" || !strings.Contains(c.Image, ".") {
						t.Errorf("%s: %s: image %s", a.Name, o.ID(), c.Image)
					}
				}
			}
		}
	})
}

// Equal facts give equal addons.
func TestAddonsAreDeterministic(t *testing.T) {
	everyAddon(t, func(t *testing.T, c testCase, all []catalogue.Addon) {
		f, _ := c.facts(t)
		for range 5 {
			if again, err := catalogue.Addons(f); err != nil || !reflect.DeepEqual(all, again) {
				t.Fatalf("another result: %v", err)
			}
		}
	})
}

// Objects and values are made of what package manifest reads and writes.
func TestObjectsAreNormal(t *testing.T) {
	everyAddon(t, func(t *testing.T, _ testCase, all []catalogue.Addon) {
		for _, a := range all {
			values := []any{map[string]any(nil)}
			if a.Values != nil {
				values = []any{a.Values}
			}
			for _, o := range a.Objects {
				values = append(values, map[string]any(o))
			}
			for _, v := range values {
				normal, err := manifest.Normalize(v)
				if m, ok := v.(map[string]any); err != nil || (ok && m != nil && !reflect.DeepEqual(normal, v)) {
					t.Errorf("%s: %v is not as manifest has it: %v", a.Name, v, err)
				}
			}
		}
	})
}
