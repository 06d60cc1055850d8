package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
)

// taskfile is a Taskfile, as far as this test runs one: what stands there is
// expanded as Task does it, and run by a shell.
type taskfile struct {
	Vars  map[string]string `yaml:"vars"`
	Tasks map[string]struct {
		Desc   string   `yaml:"desc"`
		Deps   []string `yaml:"deps"`
		Status []string `yaml:"status"`
		Cmd    string   `yaml:"cmd"`
	} `yaml:"tasks"`
}

// script is what Task runs for a task: what it depends on, then its command,
// unless its status says that there is nothing to do.
func (f taskfile) script(t *testing.T, task string, vars map[string]string) string {
	t.Helper()
	expand := func(text string, vars map[string]string) string {
		var b strings.Builder
		funcs := template.FuncMap{"default": func(otherwise, value any) any {
			if value == nil || value == "" {
				return otherwise
			}
			return value
		}}
		data := map[string]any{"CLI_ARGS": ""}
		for name, value := range vars {
			data[name] = value
		}
		if err := template.Must(template.New(task).Funcs(funcs).Parse(text)).Execute(&b, data); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all := map[string]string{}
	for name, text := range f.Vars {
		all[name] = expand(text, vars)
	}
	for name, value := range vars {
		all[name] = value
	}
	what, ok := f.Tasks[task]
	if !ok || what.Cmd == "" || what.Desc == "" {
		t.Fatalf("the Taskfile has no task %q that says what it is", task)
	}
	var lines []string
	for _, dep := range what.Deps {
		lines = append(lines, f.script(t, dep, vars))
	}
	command := "sh -ec '" + strings.ReplaceAll(expand(what.Cmd, all), "'", `'\''`) + "'"
	for _, status := range what.Status {
		command = expand(status, all) + " >/dev/null 2>&1 || " + command
	}
	return strings.Join(append(lines, command), "\n")
}

// TestTaskfile runs every task of a new repository but the list of them, in a
// simulated project: what is changed is rendered, compared, planned and applied.
func TestTaskfile(t *testing.T) {
	t.Parallel()
	r := newRunner(t, "github")
	var f taskfile
	readYAML(t, filepath.Join(r.home, "clusters", "Taskfile.yml"), &f)
	ran := []string{"default"} // lists the tasks
	task := func(name string, vars map[string]string) string {
		ran = append(ran, name)
		return f.script(t, name, vars) + "\n"
	}
	env := map[string]string{"ENV": "dev"}
	script := "set -e\ncd ~/clusters\n" +
		task("render", nil) + // nothing to do
		"sed -i 's/count: 2/count: 1/' envs/dev/cluster.yaml\n" +
		"! (" + task("diff", nil) + ")\n" + "! (" + task("check", env) + ")\n" +
		task("render", env) + task("check", nil) +
		"git commit -q -a -m change && git push -q\n" +
		task("plan", nil) + task("apply", map[string]string{"CLI_ARGS": "--yes"}) + task("plan", env)
	if err := writeFile(filepath.Join(r.dir, "tasks.sh"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	out := r.must(t, "talosgen sim --nodes --speed 0 -- sh ~/runner/tasks.sh")
	at := 0
	for _, want := range []string{"rendered/dev is not up to date", "rendered/dev: 2 nodes", "server/dev-worker-1", "dev: nothing to do"} {
		found := strings.Index(out[at:], want)
		if found < 0 {
			t.Fatalf("%q is not in\n%s", want, out[at:])
		}
		at += found
	}
	for name := range f.Tasks {
		if !slices.Contains(ran, name) {
			t.Errorf("the task %s was not run", name)
		}
	}
}
