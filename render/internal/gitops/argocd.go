package gitops

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

const (
	argoAPI = "argoproj.io/v1alpha1"
	// inCluster is the cluster that Argo CD runs in.
	inCluster = "https://kubernetes.default.svc"
	// cascade lets what an Application runs go with it, as with a Kustomization. A project
	// that has it stays as long as an Application is of it: without its project, one that
	// goes cannot remove what it runs, and stays for good.
	cascade = "resources-finalizer.argocd.argoproj.io"
)

// argoCD writes the objects of Argo CD: the Application that all others come from, with
// what it may do, is apply's; the others, and Argo CD itself, are in the repository.
func (a *arrangement) argoCD(s Settings, watched []Addon) {
	components, secrets, problem := s.argoComponents()
	a.problems.Add(problem)
	var objects []manifest.Object
	for i, step := range a.steps {
		project := s.layerProject(step, a.reaches(step, s.ArgoCD.Namespace))
		asMap(project["metadata"])["finalizers"] = []any{cascade}
		objects = append(objects, project, s.layer(step, i+1))
	}
	a.claim(Addon{Name: ArgoDir, Objects: slices.Concat(objects, components)})
	names := a.objects(ArgoDir, ArgoDir, objects, Plain)
	if a.add(path.Join(ArgoDir, "components.yaml"), ArgoDir, components) {
		names = append([]any{"components.yaml"}, names...)
	}
	a.kustomization(ArgoDir, names)
	kept := Addon{Name: ArgoDir, Objects: append(secrets, s.rootProject(components), s.rootApplication())}
	if s.GitOps.Components == schemas.Managed {
		kept.Objects = append(kept.Objects, newNamespace(s.ArgoCD.Namespace, ""))
	}
	if s.Credentials != nil {
		kept.Objects = append(kept.Objects, s.argoRepository())
	}
	a.claim(kept)
	a.bootstrap(kept)
}

// argoRepository is what Argo CD shows the Git server.
func (s Settings) argoRepository() manifest.Object {
	texts := map[string]any{"type": "git", "url": s.Repository}
	for key, value := range s.Credentials {
		texts[key] = value
	}
	return plainData(manifest.Object{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{
			"name": GitSecret, "namespace": s.ArgoCD.Namespace,
			"labels": map[string]any{"argocd.argoproj.io/secret-type": "repository"},
		},
		"stringData": texts,
	})
}

// rootApplication is the one that all others come from.
func (s Settings) rootApplication() manifest.Object {
	o := s.application(Name, ArgoDir)
	asMap(asMap(o["spec"])["destination"])["namespace"] = s.ArgoCD.Namespace // all that its project allows
	return o
}

// layer is the Application of a step. That of the step before is healthy when Argo CD
// makes it, because its wave is later.
func (s Settings) layer(step string, wave int) manifest.Object {
	o := s.application(Name+"-"+step, path.Join(AddonsDir, step))
	o = withAnnotations(o, map[string]string{argoWave: strconv.Itoa(wave)})
	if step != crdsStep { // of which everything stays
		asMap(o["metadata"])["finalizers"] = []any{cascade}
	}
	return o
}

// application runs a directory of the tree. Argo CD sends what it runs as talosgen
// does, on the server's side, so that what talosgen has made first is as Argo CD would
// have it, and asks the API what would change, so that defaults are no difference.
func (s Settings) application(name, dir string) manifest.Object {
	o := s.argoObject("Application", name, map[string]any{
		"project":     name,
		"source":      map[string]any{"repoURL": s.Repository, "targetRevision": s.Branch, "path": path.Join(s.Path, dir)},
		"destination": map[string]any{"server": inCluster},
		"syncPolicy": map[string]any{
			"automated":   map[string]any{"prune": s.ArgoCD.Prune, "selfHeal": s.ArgoCD.SelfHeal},
			"syncOptions": []any{"ServerSideApply=true", "ApplyOutOfSyncOnly=true", "SkipDryRunOnMissingResource=true"},
			"retry": map[string]any{
				"limit": int64(-1), "refresh": true, // else a commit that mends waits for one that cannot succeed
				"backoff": map[string]any{"duration": "30s", "factor": int64(2), "maxDuration": "2m"},
			},
		},
	})
	return withAnnotations(o, map[string]string{argoCompareOptions: "ServerSideDiff=true"})
}

func (s Settings) argoObject(kind, name string, spec map[string]any) manifest.Object {
	return manifest.Object{
		"apiVersion": argoAPI, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": s.ArgoCD.Namespace}, "spec": spec,
	}
}

// reach is what a layer has that its project has to allow, and those of others do not.
type reach struct{ applications, namespace bool }

// argoKinds are the kinds by which Argo CD is told what to run.
var argoKinds = []string{"Application", "ApplicationSet", "AppProject"}

// reaches is what the addons of a step have of Argo CD's.
func (a *arrangement) reaches(step, namespace string) (r reach) {
	for _, f := range a.files {
		if !strings.HasPrefix(f.Path, path.Join(AddonsDir, step)+"/") {
			continue
		}
		for _, o := range f.Objects {
			id := o.ID()
			r.namespace = r.namespace || id.Namespace == namespace
			r.applications = r.applications || id.Group == "argoproj.io" && slices.Contains(argoKinds, id.Kind)
		}
	}
	return r
}

// layerProject is what the Application of a step may do. A project that allows no more
// than what there is would keep Argo CD from removing the last object of a kind or in a
// namespace: it passes over whatever its project does not allow. So it says what no
// object of the step can be.
func (s Settings) layerProject(step string, r reach) manifest.Object {
	definitions := []any{groupKind("apiextensions.k8s.io", "CustomResourceDefinition"), groupKind("", "Namespace")}
	if step == crdsStep {
		return s.project(Name+"-"+step, "definitions and namespaces of all addons", map[string]any{
			"destinations":               []any{destination("*")},
			"clusterResourceWhitelist":   definitions,
			"namespaceResourceWhitelist": []any{},
		})
	}
	destinations := []any{destination("*")}
	if !r.namespace {
		destinations = append(destinations, destination("!"+s.ArgoCD.Namespace))
	}
	spec := map[string]any{
		"destinations":             destinations,
		"clusterResourceWhitelist": []any{groupKind("*", "*")},
		"clusterResourceBlacklist": definitions,
	}
	if !r.applications {
		var denied []any
		for _, kind := range argoKinds {
			denied = append(denied, groupKind("argoproj.io", kind))
		}
		spec["namespaceResourceBlacklist"] = denied
	}
	return s.project(Name+"-"+step, "addons of the step "+step, spec)
}

// rootProject is what the Application may do that all others come from: what Argo CD
// consists of, and nothing outside its namespace.
func (s Settings) rootProject(components []manifest.Object) manifest.Object {
	spec := map[string]any{"destinations": []any{destination(s.ArgoCD.Namespace)}}
	if len(components) == 0 {
		spec["clusterResourceWhitelist"] = []any{}
		spec["namespaceResourceWhitelist"] = []any{groupKind("argoproj.io", "Application"), groupKind("argoproj.io", "AppProject")}
	} else {
		spec["clusterResourceWhitelist"] = clusterKinds(components)
	}
	return s.project(Name, "the Applications of the steps, and Argo CD itself", spec)
}

func (s Settings) project(name, description string, spec map[string]any) manifest.Object {
	spec["description"], spec["sourceRepos"] = description, []any{s.Repository}
	return s.argoObject("AppProject", name, spec)
}

func destination(namespace string) map[string]any {
	return map[string]any{"server": inCluster, "namespace": namespace}
}

func groupKind(group, kind string) map[string]any {
	return map[string]any{"group": group, "kind": kind}
}

// clusterKinds are the kinds of objects that are in no namespace, sorted.
func clusterKinds(objects []manifest.Object) []any {
	var names []string
	for _, o := range objects {
		if id := o.ID(); id.Namespace == "" {
			names = append(names, id.Group+"/"+id.Kind)
		}
	}
	slices.Sort(names)
	all := []any{}
	for _, name := range slices.Compact(names) {
		group, kind, _ := strings.Cut(name, "/")
		all = append(all, groupKind(group, kind))
	}
	return all
}
