package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"

	"github.com/talosgen/talosgen/internal/diag"
)

// resource is where the objects of a kind are.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

var (
	configMaps = resource{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, true}
	namespaces = resource{schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, false}
)

// path is that of an object, or, without a name, of all in a namespace, or,
// without that too, of all.
func (r resource) path(namespace, name string) string {
	path := "/api/" + r.Version
	if r.Group != "" {
		path = "/apis/" + r.Group + "/" + r.Version
	}
	if r.namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	path += "/" + r.Resource
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// objects are those of a kind, in one namespace or in all.
type objects struct {
	api  dynamic.ResourceInterface
	path string
}

// in are the objects of a kind in a namespace; in all without one.
func (c *Client) in(r resource, namespace string) objects { return objectsOf(c.objects, r, namespace) }

// atOnce is [Client.in] for requests that are not repeated.
func (c *Client) atOnce(r resource, namespace string) objects { return objectsOf(c.once, r, namespace) }

func objectsOf(api dynamic.Interface, r resource, namespace string) objects {
	o := objects{api.Resource(r.GroupVersionResource), r.path(namespace, "")}
	if r.namespaced && namespace != "" {
		o.api = api.Resource(r.GroupVersionResource).Namespace(namespace)
	}
	return o
}

// at names an object, or a part of it, in an error.
func (o objects) at(name string, sub ...string) string {
	return strings.Join(append([]string{o.path, url.PathEscape(name)}, sub...), "/")
}

// get reads an object.
func (o objects) get(ctx context.Context, name string) (map[string]any, error) {
	found, err := o.api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, refusal(http.MethodGet, o.at(name), err)
	}
	return found.Object, nil
}

// create makes an object, or a part of one.
func (o objects) create(ctx context.Context, object *unstructured.Unstructured, sub ...string) (map[string]any, error) {
	path := o.path
	if len(sub) > 0 {
		path = o.at(object.GetName(), sub...)
	}
	made, err := o.api.Create(ctx, object, metav1.CreateOptions{FieldManager: manager}, sub...)
	if err != nil {
		return nil, refusal(http.MethodPost, path, err)
	}
	return made.Object, nil
}

// update replaces an object, unless others have changed it meanwhile.
func (o objects) update(ctx context.Context, object *unstructured.Unstructured) (map[string]any, error) {
	stored, err := o.api.Update(ctx, object, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		return nil, refusal(http.MethodPut, o.at(object.GetName()), err)
	}
	return stored.Object, nil
}

// patch changes an object, or a part of one.
func (o objects) patch(ctx context.Context, name string, kind types.PatchType, body any, options metav1.PatchOptions, sub ...string) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	result, err := o.api.Patch(ctx, name, kind, text, options, sub...)
	if err != nil {
		return nil, refusal(http.MethodPatch, o.at(name, sub...), err)
	}
	return result.Object, nil
}

// delete deletes an object.
func (o objects) delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	if err := o.api.Delete(ctx, name, options); err != nil {
		return refusal(http.MethodDelete, o.at(name), err)
	}
	return nil
}

// pageSize is how many objects a list asks for at once.
const pageSize = 250

// list calls visit with every object, once all are read. The options may select some.
func (o objects) list(ctx context.Context, options metav1.ListOptions, visit func(map[string]any) error) error {
	pages := pager.ListPager{PageSize: pageSize, FullListIfExpired: true, PageFn: o.page}
	all, _, err := pages.List(ctx, options)
	if err != nil {
		return refusal(http.MethodGet, o.path, err)
	}
	return meta.EachListItem(all, func(item runtime.Object) error {
		if err := visit(item.(*unstructured.Unstructured).Object); err != nil {
			return diag.On("Kubernetes API", "GET %s: the answer cannot be read: %v", o.path, err).WithCode(diag.Remote)
		}
		return nil
	})
}

// page reads a page of a list. One that is followed by itself, and a whole list that is
// followed by anything, would be taken for less or more than there is.
func (o objects) page(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.api.List(ctx, options)
	if err != nil {
		return nil, err
	}
	if next := list.GetContinue(); next != "" && (options.Limit == 0 || next == options.Continue) {
		return nil, diag.On("Kubernetes API", "GET %s: a page of the list is followed by itself", o.path).WithCode(diag.Remote)
	}
	return list, nil
}

// listAs reads all objects as values of a type. The options may select some.
func listAs[T any](ctx context.Context, o objects, options metav1.ListOptions) (all []T, err error) {
	err = o.list(ctx, options, func(object map[string]any) error {
		var value T
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &value)
		all = append(all, value)
		return err
	})
	return all, err
}
