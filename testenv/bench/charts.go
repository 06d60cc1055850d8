package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What renders of charts may take, in CPU time of the best run.
const (
	chartsFromScratch = 1500 * time.Millisecond
	chartsUnchanged   = 200 * time.Millisecond // to read the lock, the seal and what it names
)

// How large a chart of usual size is here: those that people install most have 20 to 60
// objects, hundreds of lines of values, and some have definitions of hundreds of lines.
const (
	chartsOfMany  = 12
	workloads     = 8  // of six objects each
	valueLines    = 30 // of each workload, beside those that templates read
	definitions   = 2  // in each second chart
	crdProperties = 100
)

// charts measures an environment of four nodes with twelve charts of usual size.
func charts(dir string, p program, runs int) (map[string][]sample, error) {
	repo := filepath.Join(dir, "charts")
	if err := generateCharts(repo, p.binary); err != nil {
		return nil, err
	}
	fmt.Printf("\n%d charts with %d objects each, and %d definitions in each second one:\n\n", chartsOfMany, workloads*6, definitions)
	head("environment")
	c := cluster{program: p, repo: repo, env: "bench", key: filepath.Join(repo, "key.txt")}
	return table([]cluster{c}, fmt.Sprintf("%d charts | 4", chartsOfMany), "envs/bench/patches/nodes/"+workerName(1)+"/1.yaml", runs)
}

// tooDear names what takes more than charts may.
func tooDear(measured map[string][]sample) error {
	var errs []error
	for what, bound := range map[string]time.Duration{fromScratch: chartsFromScratch, nothingChanged: chartsUnchanged} {
		for _, s := range measured[what] {
			if s.least <= bound {
				continue
			}
			errs = append(errs, fmt.Errorf("%d charts, %s: %.3f s of CPU time, and the bound is %.3f s", chartsOfMany, what, s.least.Seconds(), bound.Seconds()))
		}
	}
	return errors.Join(errs...)
}

// generateCharts writes a repository with an environment of four nodes and the charts.
func generateCharts(repo, binary string) error {
	addons := "addons:\n"
	files := map[string]string{}
	for i := range chartsOfMany {
		name := fmt.Sprintf("service-%d", i+1)
		addons += fmt.Sprintf("  %s: {namespace: %s, source: {chart: {path: charts/%s}}}\n", name, name, name)
		chart(files, name, i%2 == 0)
	}
	for name, text := range files {
		file := filepath.Join(repo, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return generateWith(repo, newest(), 4, binary, addons)
}

// chart adds the files of a chart.
func chart(files map[string]string, name string, defines bool) {
	dir := "charts/" + name + "/"
	values := "global: {imageRegistry: registry.example.com, labels: {team: platform}}\nfullnameOverride: \"\"\ncommonAnnotations: {}\n"
	for w := range workloads {
		part := fmt.Sprintf("part%d", w)
		values += partValues(part)
		for kind, text := range partTemplates {
			files[dir+"templates/"+part+"/"+kind+".yaml"] = strings.ReplaceAll(text, "PART", part)
		}
	}
	files[dir+"Chart.yaml"] = "{apiVersion: v2, name: " + name + ", version: 1.2.3, appVersion: 4.5.6}\n"
	files[dir+"values.yaml"] = values
	files[dir+"templates/_helpers.tpl"] = helpers
	files[dir+"templates/NOTES.txt"] = "{{ .Release.Name }} is there.\n"
	if !defines {
		return
	}
	for d := range definitions {
		files[fmt.Sprintf("%scrds/%d.yaml", dir, d)] = definition(name, d)
	}
}

// partValues are the values of a workload: what templates read, and what they pass on.
func partValues(part string) string {
	text := part + `:
  enabled: true
  replicas: 2
  image: {repository: example/` + part + `, tag: "", pullPolicy: IfNotPresent}
  serviceAccount: {create: true, annotations: {}}
  service: {type: ClusterIP, port: 8080, annotations: {}}
  resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 128Mi}}
  podSecurityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  nodeSelector: {kubernetes.io/os: linux}
  tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
  affinity: {}
  extraEnv: [{name: LOG_LEVEL, value: "{{ .Values.` + part + `.logLevel }}"}]
  logLevel: info
  rules: [{apiGroups: [""], resources: [pods, services], verbs: [get, list, watch]}]
  config:
`
	for i := range valueLines {
		text += fmt.Sprintf("    option-%d: \"value of %s, line %d\"\n", i, part, i)
	}
	return text
}

// definition is a custom resource definition of hundreds of lines.
func definition(chart string, n int) string {
	group := chart + ".example.com"
	text := fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things%d.%s
spec:
  group: %s
  names: {kind: Thing%d, listKind: Thing%dList, plural: things%d, singular: thing%d}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
`, n, group, group, n, n, n, n)
	for i := range crdProperties {
		text += fmt.Sprintf(`                property%d:
                  description: What property %d of this kind says, in as many words as upstream's have.
                  type: array
                  items: {type: object, properties: {name: {type: string}, value: {type: integer}}}
`, i, i)
	}
	return text
}
