package kubeenv

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Apply applies the objects of YAML documents by server-side apply, in their
// order, and returns them as they are then. With force it takes the fields
// that others own.
func (c *Cluster) Apply(t testing.TB, manager string, force bool, documents ...string) []Object {
	t.Helper()

	var all []Object

	for _, text := range documents {
		applied, err := c.client.apply(manager, force, text)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, applied...)
	}

	return all
}

// apply applies the objects of YAML documents.
func (c client) apply(manager string, force bool, documents string) ([]Object, error) {
	objects, err := parse(documents)
	if err != nil {
		return nil, err
	}

	for i, object := range objects {
		path, err := c.path(object)
		if err != nil {
			return nil, err
		}

		status, answer, err := c.do(http.MethodPatch, path+applyQuery(manager, force), applyPatch, object)
		if err != nil {
			return nil, err
		}

		if status >= http.StatusBadRequest {
			return nil, fmt.Errorf("apply %s: %d: %s", path, status, answer.Text("message"))
		}

		objects[i] = answer
	}

	return objects, nil
}

// applyQuery are the parameters of a server-side apply.
func applyQuery(manager string, force bool) string {
	return "?" + url.Values{
		"fieldManager":    {manager},
		"force":           {strconv.FormatBool(force)},
		"fieldValidation": {"Strict"},
	}.Encode()
}

// Path returns the API path of the objects of YAML documents that are known
// by kind and name: of the first, if they are several.
func (c *Cluster) Path(t testing.TB, document string) string {
	t.Helper()

	objects, err := parse(document)
	if err != nil || len(objects) == 0 {
		t.Fatalf("no object in %q: %v", document, err)
	}

	path, err := c.client.path(objects[0])
	if err != nil {
		t.Fatal(err)
	}

	return path
}

// path returns the API path of an object. Kinds that were defined a moment
// ago are waited for.
func (c client) path(o Object) (string, error) {
	version, kind := o.Text("apiVersion"), o.Text("kind")

	base := "/apis/" + version
	if !strings.Contains(version, "/") {
		base = "/api/" + version
	}

	var resource Object

	err := poll(10*time.Second, func() (err error) {
		resource, err = c.resource(base, kind)
		return err
	})
	if err != nil {
		return "", err
	}

	if namespace := o.Text("metadata", "namespace"); resource.Value("namespaced") == true {
		if namespace == "" {
			namespace = "default"
		}

		base += "/namespaces/" + namespace
	}

	return base + "/" + resource.Text("name") + "/" + o.Text("metadata", "name"), nil
}

// resource asks the API server how a kind is called in paths.
func (c client) resource(base, kind string) (Object, error) {
	_, list, err := c.do(http.MethodGet, base, "", nil)
	if err != nil {
		return nil, err
	}

	for _, entry := range list.List("resources") {
		m, _ := entry.(map[string]any)

		resource := Object(m)
		if resource.Text("kind") == kind && !strings.Contains(resource.Text("name"), "/") {
			return resource, nil
		}
	}

	return nil, fmt.Errorf("the API server knows no %s in %s", kind, base)
}
