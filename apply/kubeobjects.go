package apply

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/kube"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/apply/plan/kube/kubetree"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
)

// treeObjects are what the tree wants of Kubernetes, read once.
type treeObjects struct {
	env  *Environment
	read *kubeplan.Desired // decrypted
}

// desired reads them.
func (t *treeObjects) desired(ctx context.Context) (kubeplan.Desired, error) {
	if t.read == nil {
		desired, err := t.env.kubernetesObjects(ctx)
		if err != nil {
			return desired, err
		}
		t.read = &desired
	}
	return *t.read, nil
}

// kubernetesObjects are what the tree wants of Kubernetes, decrypted. The masker
// learns the values of all Secrets.
func (e *Environment) kubernetesObjects(ctx context.Context) (kubeplan.Desired, error) {
	files := map[string][]byte{}
	var problems diag.List
	for name := range e.files {
		if !slices.ContainsFunc(kubetree.Dirs(), func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			continue
		}
		plain, err := e.Decrypt(ctx, name)
		problems.AddErr(err)
		files[name] = []byte(plain.Reveal())
	}
	if err := problems.Err(); err != nil {
		return kubeplan.Desired{}, err
	}
	desired, err := kubetree.Read(e.Infrastructure.Cluster, kubetree.Tree{Env: e.name, Files: files, Normalize: func(o manifest.Object) (manifest.Object, error) {
		normal, err := kube.Normalize(o)
		maskSecret(e.masker, normal)
		return normal, err
	}})
	if err == nil {
		err = e.boots(ctx, &desired)
	}
	return desired, err
}

// maskSecret makes the masker know the values of a Secret.
func maskSecret(masker *secret.Masker, o manifest.Object) {
	if !o.IsSecret() {
		return
	}
	// What does not fit its kind is refused with its value.
	masker.Add(secret.New(o.Text("stringData")))
	for _, value := range o.Map("stringData") {
		text, _ := value.(string)
		masker.Add(secret.New(text))
	}
	for _, value := range o.Map("data") {
		encoded, _ := value.(string)
		masker.Add(secret.New(encoded))
		if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			masker.Add(secret.New(string(plain)))
		}
	}
}
