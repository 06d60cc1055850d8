package kubesim_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// living is a cluster as it is found: three nodes, a ReplicaSet of three pods with a
// budget, and a StatefulSet of one.
const living = `
kind: Node
metadata: {name: a, uid: node-a, labels: {disk: ssd}}
status: {allocatable: {cpu: "2", pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
kind: Node
metadata: {name: b, uid: node-b}
status: {allocatable: {cpu: "2", pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
kind: Node
metadata: {name: c, uid: node-c}
spec: {taints: [{key: only, value: some, effect: NoSchedule}]}
status: {conditions: [{type: Ready, status: "True"}]}
---
kind: ReplicaSet
apiVersion: apps/v1
metadata: {name: web-1, namespace: default, uid: rs, ownerReferences: [{kind: Deployment, name: web, uid: deployment, controller: true}]}
spec: {replicas: 3}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: web, namespace: default, uid: deployment, generation: 4}
spec: {replicas: 3}
---
kind: StatefulSet
apiVersion: apps/v1
metadata: {name: db, namespace: default, uid: set}
spec: {replicas: 1}
---
` + web1 + web2 + web3 + `
kind: Pod
metadata: {name: db-0, namespace: default, uid: p4, ownerReferences: [{kind: StatefulSet, name: db, uid: set, controller: true}]}
spec: {nodeName: a, nodeSelector: {disk: ssd}, containers: [{name: x}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
kind: PodDisruptionBudget
apiVersion: policy/v1
metadata: {name: web, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`

const (
	web1 = `
kind: Pod
metadata: {name: web-1, namespace: default, uid: p1, labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: web-1, uid: rs, controller: true}]}
spec: {nodeName: a, containers: [{name: x, resources: {requests: {cpu: 900m}}}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---`
	web2 = `
kind: Pod
metadata: {name: web-2, namespace: default, uid: p2, labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: web-1, uid: rs, controller: true}]}
spec: {nodeName: a, containers: [{name: x, resources: {requests: {cpu: 900m}}}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---`
	web3 = `
kind: Pod
metadata: {name: web-3, namespace: default, uid: p3, labels: {app: web}, ownerReferences: [{kind: ReplicaSet, name: web-1, uid: rs, controller: true}]}
spec: {nodeName: b, containers: [{name: x, resources: {requests: {cpu: 900m}}}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---`
)

// found is a cluster that was found, and what is done to it.
type found struct {
	*testing.T

	api *kubesim.API
	now time.Time
}

func load(t *testing.T, text string) *found {
	f := &found{T: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	f.api = kubesim.New("v1.36.4", func() time.Time { return f.now })
	var objects []map[string]any
	for _, document := range strings.Split(text, "\n---") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		data, err := yaml.YAMLToJSON([]byte(document))
		var object map[string]any
		if err == nil {
			err = json.Unmarshal(data, &object)
		}
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	f.api.Load(objects)
	f.pass(0)
	return f
}

// pass lets time pass.
func (f *found) pass(d time.Duration) {
	f.now = f.now.Add(d)
	f.api.Settle(kubesim.Cluster{Ready: 3, Pods: 10 * time.Second})
}

// evict evicts a pod, and returns the code of the answer.
func (f *found) evict(pod string) int {
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/pods/"+pod+"/eviction", strings.NewReader(`{"metadata":{}}`)))
	f.pass(0)
	return w.Code
}

// levels are the changes that were seen, in short.
func (f *found) levels() string {
	var all []string
	for _, c := range f.api.Timeline().Changes {
		all = append(all, fmt.Sprintf("%s %s %d/%d %s", c.Kind, c.Name, c.Ready, c.Wants, c.At.Format("05")))
	}
	return strings.Join(all, "\n")
}

func TestEvicted(t *testing.T) {
	f := load(t, living)
	if code := f.evict("web-1"); code != http.StatusCreated {
		t.Errorf("the first one: %d", code)
	}
	if code := f.evict("web-2"); code != http.StatusTooManyRequests {
		t.Errorf("while the first one is away: %d", code)
	}
	f.pass(10 * time.Second)
	if code := f.evict("web-2"); code != http.StatusCreated {
		t.Errorf("when it is back: %d", code)
	}
	f.pass(10 * time.Second)
	want := `Deployment web 3/3 00
StatefulSet db 1/1 00
Deployment web 2/3 00
Deployment web 3/3 10
Deployment web 2/3 10
Deployment web 3/3 20`
	if got := f.levels(); got != want {
		t.Errorf("it was seen\n%s", got)
	}
	if r := f.api.Timeline().Refused; len(r) != 1 || r[0].Budget != "web" || r[0].Pod != "web-2" {
		t.Errorf("refused %+v", r)
	}
}
