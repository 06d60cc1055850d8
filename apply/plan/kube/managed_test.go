package kube

import (
	"strings"
	"testing"
)

// What is certain from the fields of a manager, and what has to be asked.
func TestApplied(t *testing.T) {
	const pods = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ns, labels: {l: v}}, spec: {replicas: 1, list: [{name: x, image: i}, {name: w, image: j}], set: [b, a]}}"
	const fields = "{'f:metadata': {'f:labels': {'f:l': {}}}, 'f:spec': {'f:replicas': {}, 'f:list': {'k:{\"name\":\"x\"}': {'.': {}, 'f:name': {}, 'f:image': {}}, 'k:{\"name\":\"w\"}': {'.': {}, 'f:name': {}, 'f:image': {}}}, 'f:set': {'v:\"a\"': {}, 'v:\"b\"': {}}}}"
	const live = "spec: {replicas: 1, default: d, list: [{name: x, image: i, pull: Always}, {name: w, image: j}, {name: z}], set: [b, c, a]}}"
	from := func(old, with string) string { return strings.Replace(pods, old, with, 1) }
	seen := func(text string) string {
		return managed(strings.Replace(pods, pods[strings.Index(pods, "spec:"):], text, 1), entry("talosgen", "Apply", fields))
	}
	for name, test := range map[string]struct {
		send, live string
		want       bool
	}{
		"the same":                   {pods, seen(live), true},
		"another value":              {from("replicas: 1", "replicas: 2"), seen(live), false},
		"changed by others":          {pods, seen(strings.Replace(live, "image: j", "image: k", 1)), false},
		"another label":              {from("l: v", "l: w"), seen(live), false},
		"one field more":             {from("replicas: 1", "replicas: 1, more: 1"), seen(live), false},
		"one field less":             {from("replicas: 1, ", ""), seen(live), false},
		"one label more":             {from("l: v", "l: v, m: w"), seen(live), false},
		"an element more":            {from("{name: w, image: j}", "{name: w, image: j}, {name: z}"), seen(live), false},
		"an element less":            {from(", {name: w, image: j}", ""), seen(live), false},
		"another order":              {from("[{name: x, image: i}, {name: w, image: j}]", "[{name: w, image: j}, {name: x, image: i}]"), seen(live), false},
		"an element of a set less":   {from("[b, a]", "[b]"), seen(live), false},
		"another element of a set":   {from("[b, a]", "[b, c]"), seen(live), false},
		"another version":            {from("apps/v1", "apps/v2"), seen(live), false},
		"of another manager":         {pods, strings.Replace(seen(live), "manager: talosgen", "manager: helm", 1), false},
		"updated, and never applied": {pods, strings.Replace(seen(live), "operation: Apply", "operation: Update", 1), false},
		"without any field":          {"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ns}}", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ns, uid: u}}", true},
		"without fields any more":    {"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ns}}", managed("{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ns, labels: {l: v}}}", entry("talosgen", "Apply", "{'f:metadata': {'f:labels': {'f:l': {}}}}")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Applied(object(t, test.live), object(t, test.send), "talosgen"); got != test.want {
				t.Errorf("applied: %v, want %v", got, test.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	for name, test := range map[string]struct {
		from, to string
		want     []string
	}{
		"what the server keeps": {
			"{kind: A, metadata: {name: a, uid: x, generation: 1, managedFields: [{manager: m}], annotations: {deprecated.daemonset.template.generation: '1'}}, status: {a: 1}}",
			"{kind: A, metadata: {name: a, uid: y, generation: 2, annotations: {deprecated.daemonset.template.generation: '2'}}}", nil,
		},
		"values": {
			"{kind: A, metadata: {name: a}, spec: {num: 1, s: '', gone: [1], a.b: x}}", "{kind: A, metadata: {name: a}, spec: {num: 2, s: t, a.b: other, new: {x: val}}}",
			[]string{`spec["a.b"]: x -> other`, "spec.gone: - [1]", `spec.new: + {"x":"val"}`, "spec.num: 1 -> 2", `spec.s: "" -> t`},
		},
		"lists": {
			"{metadata: {name: a}, l: [{name: x, v: 1}, {name: w}], p: [1, 2], q: [1]}", "{metadata: {name: a}, l: [{name: z}, {name: x, v: 2}], p: [1, 3], q: []}",
			[]string{"l[x].v: 1 -> 2", `l[w]: - {"name":"w"}`, `l[z]: + {"name":"z"}`, "p[1]: 2 -> 3", "q: [1] -> []"},
		},
		"new labels": {"{metadata: {name: a}}", "{metadata: {name: a, labels: {x: one}}}", []string{"metadata.labels.x: + one"}},
		"a Secret": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {note: canary}}, type: Opaque, data: {k: canary}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {x: one}}, type: kubernetes.io/tls, data: {k: other, l: canary}, stringData: {m: canary}}",
			[]string{"data.k: ****** -> ******", "data.l: + ******", "metadata.annotations.note: - ******", "metadata.labels.x: + one", "stringData.m: + ******", "type: Opaque -> kubernetes.io/tls"},
		},
		"kubectl's copy": {
			"{metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: canary}}}", "{metadata: {name: a}}",
			[]string{`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]: - ******`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := object0(t, test.from), object0(t, test.to)
			var got []string
			for _, f := range Diff(from, to) {
				got = append(got, f.String())
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// object0 reads an object that need not have a kind and a version.
func object0(t *testing.T, text string) Object {
	t.Helper()
	if !strings.Contains(text, "kind:") {
		text = strings.Replace(text, "{", "{kind: A, ", 1)
	}
	if !strings.Contains(text, "apiVersion:") {
		text = strings.Replace(text, "{", "{apiVersion: v1, ", 1)
	}
	return object(t, text)
}
