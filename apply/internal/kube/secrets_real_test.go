package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// keyed are the fields of an EncryptionConfiguration with keys of names, as Talos writes
// it; without any, nothing is encrypted.
func keyed(names ...string) string {
	text := "resources:\n- resources: [secrets]\n  providers:\n"
	if len(names) == 0 {
		return text + "  - identity: {}\n"
	}
	text += "  - secretbox:\n      keys:\n"
	for _, name := range names {
		secret := bytes.Repeat([]byte(name[len(name)-1:]), 32)
		text += fmt.Sprintf("      - {name: %s, secret: %s}\n", name, base64.StdEncoding.EncodeToString(secret))
	}
	return text
}

// vault is a cluster with Secrets of all kinds, and what they held at first.
type vault struct {
	*testing.T
	cluster *kubeenv.Cluster
	held    map[string]any
}

// fill makes Secrets, more than one page of a list.
func (v *vault) fill() {
	v.Helper()
	make := func(name string, object map[string]any) {
		object["apiVersion"], object["kind"] = "v1", "Secret"
		meta, _ := object["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			object["metadata"] = meta
		}
		meta["name"] = name
		if code, answer := v.cluster.Do(v.T, http.MethodPost, "/api/v1/namespaces/default/secrets", kubeenv.JSON, object); code != http.StatusCreated {
			v.Fatalf("%d: %v", code, answer)
		}
	}
	for n := range pageSize + 10 {
		make(fmt.Sprint("plain-", n), map[string]any{"stringData": map[string]any{"n": fmt.Sprint(n)}})
	}
	make("frozen", map[string]any{"immutable": true, "stringData": map[string]any{"a": "b"}})
	make("empty", map[string]any{})
	make("release", map[string]any{"type": "helm.sh/release.v1", "stringData": map[string]any{"release": strings.Repeat("x", 100_000)}})
	make("going", map[string]any{"metadata": map[string]any{"finalizers": []string{"example.com/held"}}, "stringData": map[string]any{"a": "b"}})
	v.cluster.Delete(v.T, "/api/v1/namespaces/default/secrets/going")
	v.held = v.read()
}

// read is what all Secrets hold, with everything but their versions.
func (v *vault) read() map[string]any {
	v.Helper()
	list := v.cluster.Get(v.T, "/api/v1/secrets")
	all := map[string]any{}
	items, _ := list["items"].([]any)
	for _, item := range items {
		o, _ := item.(map[string]any)
		meta, _ := o["metadata"].(map[string]any)
		delete(meta, "resourceVersion")
		all[fmt.Sprint(meta["namespace"], "/", meta["name"])] = o
	}
	return all
}

// storedWith counts Secrets in etcd by the names of their keys.
func (v *vault) storedWith() string {
	v.Helper()
	count := map[string]int{}
	for key, value := range v.cluster.Stored(v.T, "/registry/secrets/") {
		const prefix = "k8s:enc:secretbox:v1:"
		name, _, found := strings.Cut(strings.TrimPrefix(string(value), prefix), ":")
		switch {
		case !strings.HasPrefix(string(value), prefix):
			name = "nothing"
		case !found:
			v.Fatalf("%s is stored as something else", key)
		}
		count[name]++
	}
	return fmt.Sprint(count)
}

// interrupted is a run that ends before it is done. It returns how many Secrets it wrote.
func (v *vault) interrupted(client *Client, key string) int {
	v.Helper()
	ctx, cancel := context.WithCancel(v.Context())
	defer cancel()
	_, _, err := RewriteSecrets(ctx, client, func(text string) {
		if strings.Contains(text, " of ") {
			cancel()
		}
	})
	if err == nil {
		v.Fatal("it was not interrupted")
	}
	written := 0
	for _, value := range v.cluster.Stored(v.T, "/registry/secrets/") {
		if strings.HasPrefix(string(value), "k8s:enc:secretbox:v1:"+key+":") {
			written++
		}
	}
	return written
}

// TestRewriteSecrets takes a real API server through a rotation of its encryption key,
// and reads in etcd what becomes of Secrets.
func TestRewriteSecrets(t *testing.T) {
	v := &vault{T: t, cluster: kubeenv.Start(t, kubeenv.Own(), kubeenv.WithoutControllerManager())}
	v.fill()
	n := len(v.held)
	client := newRun(t, v.cluster).client
	quiet := func(string) {}
	const identity = "  - identity: {}\n"
	for _, step := range []struct {
		fields        string
		stored, after string
	}{
		{keyed("key2") + identity, "nothing", "key2"},
		{keyed("key2", "key3"), "key2", "key2"},
		{keyed("key3", "key2"), "key2", "key3"},
		{keyed("key3"), "key3", "key3"},
	} {
		v.cluster.Encrypt(t, step.fields)
		if got := v.storedWith(); got != fmt.Sprintf("map[%s:%d]", step.stored, n) {
			t.Fatalf("%s: before it %s", step.fields, got)
		}
		want := 0
		if step.stored != step.after {
			want = n - v.interrupted(client, step.after)
		}
		all, rewritten, err := RewriteSecrets(t.Context(), client, quiet)
		// Requests that were on their way when it was interrupted may still be done, after
		// etcd was read.
		late := want - rewritten
		if err != nil || len(all) != n || late < 0 || late > min(want, parallel) || want == n || want > 0 && rewritten == 0 {
			t.Fatalf("%s: %d of %d written, want %d: %v", step.fields, rewritten, len(all), want, err)
		}
		if got := v.storedWith(); got != fmt.Sprintf("map[%s:%d]", step.after, n) {
			t.Errorf("%s: after it %s", step.fields, got)
		}
		if got := v.read(); !reflect.DeepEqual(got, v.held) {
			t.Errorf("%s: Secrets are others now", step.fields)
		}
		gone := StoredSecret{"default", "never-there", "1"}
		if stays, err := SecretStays(t.Context(), client, &gone); err != nil || !stays || gone.Version != "" {
			t.Errorf("%s: one that is gone: %v, %v", step.fields, gone, err)
		}
		if _, again, err := RewriteSecrets(t.Context(), client, quiet); err != nil || again != 0 {
			t.Errorf("%s: and once more %d: %v", step.fields, again, err)
		}
	}
}
