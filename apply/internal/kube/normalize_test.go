package kube

import (
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
)

func parsed(t testing.TB, text string) manifest.Object {
	t.Helper()
	objects, err := manifest.Parse("test.yaml", []byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%d objects (%v) in %s", len(objects), err, text)
	}
	return objects[0]
}

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ name, in, want, err string }{
		{
			"texts of a Secret",
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {x: hi}, data: {z: eg==}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: a, creationTimestamp: null}, data: {x: aGk=, z: eg==}}", "",
		},
		{
			"protocols of ports",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a, creationTimestamp: null}, spec: {ports: [{port: 80, protocol: TCP, targetPort: 0}]}}", "",
		},
		{
			"a kind that nobody knows stays",
			"{apiVersion: example.org/v1, kind: Thing, metadata: {name: a}, spec: {x: 0, y: null}, status: {z: 1}}",
			"{apiVersion: example.org/v1, kind: Thing, metadata: {name: a, creationTimestamp: null}, spec: {x: 0, y: null}}", "",
		},
		{
			"a misspelt field", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replcas: 2, template: {spec: {containers: [{name: a, imag: b}]}}}}",
			"", "spec.replcas is no field of a Deployment",
		},
		{
			"a misspelt field in a list", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, imag: b}]}}}}",
			"", "spec.template.spec.containers[].imag is no field of a Deployment",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := parsed(t, test.in)
			got, err := Normalize(in)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if want := parsed(t, test.want); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v (%v), want %v", got, err, want)
			}
			if !reflect.DeepEqual(in, parsed(t, test.in)) {
				t.Error("the object itself was changed")
			}
		})
	}
}
