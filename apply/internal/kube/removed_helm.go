package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// releases are kept in Secrets.
var releases = resource{corev1.SchemeGroupVersion.WithResource("secrets"), true}

// mostManifest is more than a release of Helm has: a Secret holds a megabyte, compressed.
const mostManifest = 64 << 20

// helm reads the manifests of the releases that Helm has deployed. A release that cannot
// be read is none of Helm's.
func (r *endings) helm(ctx context.Context) error {
	all, err := listAs[corev1.Secret](ctx, r.client.in(releases, ""), metav1.ListOptions{LabelSelector: "owner=helm,status=deployed"})
	for _, s := range all {
		for _, gvk := range released(s.Data["release"]) {
			r.applied(gvk, "Helm release "+s.Namespace+"/"+s.Labels["name"])
		}
	}
	return err
}

// released are the kinds in the manifest of a release, which is JSON, compressed, and
// encoded once more than a Secret is.
func released(data []byte) (kinds []schema.GroupVersionKind) {
	packed, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, mostManifest))
	var release struct{ Manifest string }
	if err != nil || json.Unmarshal(text, &release) != nil {
		return nil
	}
	for _, part := range yamltext.Split([]byte(release.Manifest)) {
		var o metav1.TypeMeta
		if yaml.Unmarshal(part, &o) == nil && o.Kind != "" {
			kinds = append(kinds, o.GroupVersionKind())
		}
	}
	return kinds
}
