package gitops

import (
	"path"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/schemas"
)

// Names of Flux' objects.
const (
	// Namespace is where Flux and its objects are.
	Namespace = "flux-system"
	// Name is that of the GitRepository and of the Kustomization for the
	// directory flux; those of the steps begin with it.
	Name = "talosgen"
	// AgeSecret is the Secret with the key that Flux decrypts with.
	AgeSecret = "sops-age"
	// AgeKey is the key's name in there; it has to end in .agekey.
	AgeKey = "age.agekey"
	// OtherAgeKey is the name of another one in a rotation.
	OtherAgeKey = "other.agekey"
	// GitSecret is the Secret with what Flux shows the Git server.
	GitSecret = "talosgen-git"
	// fluxAccount may do everything. Where Flux is for tenants, a Kustomization that
	// names no service account may do nothing.
	fluxAccount = "kustomize-controller"
	// VerifySecret is the Secret with the public keys of those who may sign what
	// Flux runs.
	VerifySecret = "talosgen-git-signers"
)

// How long Flux takes.
const (
	pollInterval  = "1m0s"  // between two looks at the repository
	retryInterval = "2m0s"  // after a failure
	stepTimeout   = "10m0s" // for all of a step to be ready: images have to be pulled
)

// Settings are what Flux needs to know.
type Settings struct {
	schemas.GitOps
	// What proves to the Git server or the registry who Flux is, as the data of a
	// Secret; nil if everyone may read there.
	Credentials map[string]string
	// The cluster's age key.
	AgeKey string
	// In a rotation, another one that it may decrypt with.
	OtherAgeKey string
	// The objects that Flux consists of, or its operator with what it is to install;
	// none if it is there already.
	Components []manifest.Object
	// Of Argo CD: lines of a known_hosts file, for its own; it has one for all
	// repositories.
	Hosts string
}

// flux writes the objects of Flux. Among them is the Kustomization for
// themselves, so that Flux follows changes of its own settings as well.
func (a *arrangement) flux(s Settings) {
	instance, components := s.components()
	objects := []manifest.Object{s.source(), s.root()}
	if instance != nil {
		following, err := s.following(instance)
		a.problems.AddErr(err)
		objects = []manifest.Object{annotated(following, noPruning)}
	}
	before := ""
	for _, step := range a.steps {
		objects = append(objects, s.step(step, before))
		before = step
	}
	objects = append(objects, s.secrets()...)
	for i, o := range objects {
		objects[i] = annotated(o, noSubstitution)
	}
	a.claim(Addon{Name: FluxDir, Objects: append(objects[:len(objects):len(objects)], components...)})
	names := a.objects(FluxDir, FluxDir, objects, Cluster)
	if a.add(path.Join(FluxDir, "components.yaml"), FluxDir, components) {
		names = append([]any{"components.yaml"}, names...)
	}
	a.kustomization(FluxDir, names)
	keys := map[string]string{AgeKey: s.AgeKey}
	if s.OtherAgeKey != "" {
		keys[OtherAgeKey] = s.OtherAgeKey
	}
	key := Addon{Name: FluxDir, Objects: []manifest.Object{newSecret(AgeSecret, keys)}}
	if instance != nil {
		key.Objects = append(key.Objects, newNamespace(Namespace, ""))
	}
	a.claim(key)
	a.bootstrap(key)
}

// source is where Flux finds the tree.
func (s Settings) source() manifest.Object {
	if s.OCI.URL != "" {
		return s.ociRepository()
	}
	return s.gitRepository()
}

// secrets are what the source needs.
func (s Settings) secrets() (all []manifest.Object) {
	if s.OCI.URL != "" {
		return s.ociSecrets()
	}
	if s.Credentials != nil {
		all = append(all, newSecret(GitSecret, s.Credentials))
	}
	if len(s.VerifyKeys) > 0 {
		all = append(all, newSecret(VerifySecret, s.signers()))
	}
	return all
}

// gitRepository is the repository with the tree. It takes nothing but what it
// runs: the configurations of nodes do not enter the cluster.
func (s Settings) gitRepository() manifest.Object {
	spec := map[string]any{
		"interval": pollInterval,
		"url":      s.Repository,
		"ref":      map[string]any{"branch": s.Branch},
		"ignore":   onlyDirs(s.Path, AddonsDir, FluxDir),
	}
	if s.Credentials != nil {
		spec["secretRef"] = map[string]any{"name": GitSecret}
	}
	if len(s.VerifyKeys) > 0 {
		spec["verify"] = map[string]any{"mode": "HEAD", "secretRef": map[string]any{"name": VerifySecret}}
	}
	return object("source.toolkit.fluxcd.io/v1", "GitRepository", Name, spec)
}

// signers are the public keys whose signature a commit needs, as Flux takes them.
func (s Settings) signers() map[string]string {
	keys := map[string]string{}
	for i, key := range s.VerifyKeys {
		keys["signer-"+strconv.Itoa(i+1)+".asc"] = key
	}
	return keys
}

// onlyDirs excludes everything but some directories below a path, in the words
// of a .gitignore file: what is below an excluded directory cannot be brought
// back, so each level is opened on the way.
func onlyDirs(root string, dirs ...string) string {
	var b strings.Builder
	at := ""
	for _, part := range strings.Split(root, "/") {
		b.WriteString(at + "/*\n!" + at + "/" + part + "/\n")
		at += "/" + part
	}
	b.WriteString(at + "/*\n")
	for _, dir := range dirs {
		b.WriteString("!" + at + "/" + dir + "/\n")
	}
	return b.String()
}

// root is the Kustomization for the directory flux. If somebody deletes it, what
// it made stays.
func (s Settings) root() manifest.Object {
	spec := s.kustomization(FluxDir)
	spec["deletionPolicy"] = "Orphan"
	return object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", Name, spec)
}

// step is the Kustomization for a step, which waits for the one before.
func (s Settings) step(name, before string) manifest.Object {
	spec := s.kustomization(path.Join(AddonsDir, name))
	spec["wait"] = true
	if before != "" {
		spec["dependsOn"] = []any{map[string]any{"name": Name + "-" + before}}
	}
	return object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", Name+"-"+name, spec)
}

func (s Settings) kustomization(dir string) map[string]any {
	spec := map[string]any{
		"interval":      s.Interval,
		"retryInterval": retryInterval,
		"timeout":       stepTimeout,
		"path":          "./" + path.Join(s.Path, dir),
		"prune":         true,
		"sourceRef":     map[string]any{"kind": s.source().Kind(), "name": Name},
		"decryption":    map[string]any{"provider": "sops", "secretRef": map[string]any{"name": AgeSecret}},
	}
	if s.GitOps.Components == schemas.Operator && s.Instance.Multitenant {
		spec["serviceAccountName"] = fluxAccount
	}
	return spec
}

func object(apiVersion, kind, name string, spec map[string]any) manifest.Object {
	return manifest.Object{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": Namespace}, "spec": spec,
	}
}

// newSecret makes a Secret for Flux.
func newSecret(name string, data map[string]string) manifest.Object {
	texts := map[string]any{}
	for key, value := range data {
		texts[key] = value
	}
	return plainData(manifest.Object{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": name, "namespace": Namespace}, "stringData": texts,
	})
}
