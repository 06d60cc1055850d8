package kubesim

import (
	"encoding/json"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// evict deletes a pod, if the budgets allow it: one allows as many as its status
// says.
func (a *API) evict(q query, body []byte) (any, error) {
	pod, err := a.find(q)
	if err != nil {
		return nil, err
	}
	var eviction policyv1.Eviction
	if err := json.Unmarshal(body, &eviction); err != nil {
		return nil, apierrors.NewBadRequest("the eviction is not JSON")
	}
	for _, o := range a.objects {
		if o.GetKind() != "PodDisruptionBudget" || o.GetNamespace() != q.namespace {
			continue
		}
		if err := a.charge(o, pod); err != nil {
			if a.pods != nil {
				a.pods.refused = append(a.pods.refused, Refusal{q.namespace, o.GetName(), q.name, a.now()})
			}
			return nil, err
		}
	}
	options, err := json.Marshal(eviction.DeleteOptions)
	if err != nil {
		return nil, err
	}
	if _, err := a.delete(q, options); err != nil {
		return nil, err
	}
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}

// charge takes the eviction of a pod from a budget, if it is about the pod.
func (a *API) charge(o, pod *unstructured.Unstructured) error {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &b); err != nil {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil || !selector.Matches(labels.Set(pod.GetLabels())) {
		return err
	}
	if b.Status.DisruptionsAllowed <= 0 {
		refused := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		refused.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause,
			Message: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)}}
		return refused
	}
	next := o.DeepCopy()
	if err := unstructured.SetNestedField(next.Object, int64(b.Status.DisruptionsAllowed-1), "status", "disruptionsAllowed"); err != nil {
		return err
	}
	a.store(next)
	return nil
}
