package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdRollout replaces the pods of the autoscaler, as its Deployment has them; or lets
// those before stay beside the new one, because that does not get ready.
//
//	rollout node pod [hangs]
func cmdRollout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: rollout node pod [hangs]")
	}
	ts.Check(autoscalerPods{kubeOf(ts, args[0])}.roll(args[1], len(args) == 3))
}

// autoscalerPods are the pods of the autoscaler, which no controller of a simulated
// cluster makes.
type autoscalerPods struct{ kube http.Handler }

const podsPath = "/api/v1/namespaces/kube-system/pods"

// roll makes a pod as the Deployment has it now. Unless it hangs, the others go.
func (a autoscalerPods) roll(name string, hangs bool) error {
	var deployment struct {
		Spec struct{ Template map[string]any }
	}
	found, err := a.ask(http.MethodGet, "/apis/apps/v1/namespaces/kube-system/deployments/cluster-autoscaler", nil, &deployment)
	if err != nil || !found {
		return err
	}
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if _, err := a.ask(http.MethodGet, podsPath+"?labelSelector=app.kubernetes.io/name%3Dcluster-autoscaler", nil, &list); err != nil {
		return err
	}
	for _, pod := range list.Items {
		if !hangs {
			if _, err := a.ask(http.MethodDelete, podsPath+"/"+pod.Metadata.Name, nil, nil); err != nil {
				return err
			}
		}
	}
	pod := deployment.Spec.Template
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	metadata, _ := pod["metadata"].(map[string]any)
	metadata["name"], metadata["namespace"] = name, "kube-system"
	_, err = a.ask(http.MethodPost, podsPath, pod, nil)
	return err
}

// ask makes a request; found is false if there is no such object.
func (a autoscalerPods) ask(method, path string, body, into any) (found bool, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return false, err
	}
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(method, path, bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/json")
	a.kube.ServeHTTP(answer, request)
	switch {
	case answer.Code == http.StatusNotFound:
		return false, nil
	case answer.Code >= http.StatusBadRequest:
		return false, fmt.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	case into == nil:
		return true, nil
	}
	return true, json.Unmarshal(answer.Body.Bytes(), into)
}
