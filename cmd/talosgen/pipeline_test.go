package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// pipelineStep is a command of a pipeline, as its runner would run it.
type pipelineStep struct {
	job    string
	env    map[string]string
	shell  string // with its flags
	script string
}

// githubJob is what the test knows of a job of a workflow; the rest is for
// GitHub alone.
type githubJob struct {
	If          string            `yaml:"if"`
	Environment string            `yaml:"environment"`
	Env         map[string]string `yaml:"env"`
	Steps       []githubStep      `yaml:"steps"`
	Strategy    struct {
		Matrix map[string][]string `yaml:"matrix"`
	} `yaml:"strategy"`
}

type githubStep struct {
	If    string            `yaml:"if"`
	Env   map[string]string `yaml:"env"`
	Uses  string            `yaml:"uses"`
	With  map[string]string `yaml:"with"`
	Run   string            `yaml:"run"`
	Shell string            `yaml:"shell"`
	Dir   string            `yaml:"working-directory"`
}

// githubSteps are the steps that GitHub runs for an event: of those workflows that are
// for it, those jobs whose conditions hold, in the order of the files, for each value of
// a matrix.
func githubSteps(t *testing.T, repository string, event map[string]string) (steps []pipelineStep) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows (%v)", err)
	}
	for _, file := range files {
		var workflow struct {
			On   map[string]any    `yaml:"on"`
			Env  map[string]string `yaml:"env"`
			Jobs yaml.Node         `yaml:"jobs"`
		}
		readYAML(t, file, &workflow)
		if _, is := workflow.On[event["github.event_name"]]; !is {
			continue
		}
		for i := 0; i < len(workflow.Jobs.Content); i += 2 {
			var job githubJob
			if err := workflow.Jobs.Content[i+1].Decode(&job); err != nil {
				t.Fatal(err)
			}
			if holds(t, job.If, event) {
				steps = append(steps, job.steps(t, repository, workflow.Jobs.Content[i].Value, workflow.Env, event)...)
			}
		}
	}
	return steps
}

// steps are those of a job that runs.
func (job githubJob) steps(t *testing.T, repository, name string, all, event map[string]string) (steps []pipelineStep) {
	t.Helper()
	values := job.Strategy.Matrix["env"]
	if values == nil {
		values = []string{""}
	}
	for _, value := range values {
		context := maps.Clone(event)
		context["matrix.env"] = value
		env := expandAll(t, all, context)
		maps.Copy(env, expandAll(t, job.Env, context))
		for _, step := range expandUses(t, repository, job.Steps) {
			if !holds(t, step.If, event) {
				continue
			}
			env := maps.Clone(env)
			maps.Copy(env, expandAll(t, step.Env, context))
			if env["GITHUB_TOKEN"] != "" {
				env["GITHUB_API_URL"] = event["forge"]
			}
			steps = append(steps, pipelineStep{job: name, env: env, shell: githubShell(step), script: step.script(t, context)})
		}
	}
	return steps
}

// script is what a step runs: in its directory, and with what an action is given.
func (s githubStep) script(t *testing.T, context map[string]string) string {
	text := s.Run
	if ref := expandAll(t, s.With, context)["ref"]; ref != "" {
		text = "git clone -q \"$CI_REMOTE\" " + s.With["path"] + " && git -C " + s.With["path"] + " checkout -q " + ref
	}
	if s.Dir != "" {
		text = "cd " + s.Dir + "\n" + text
	}
	return text
}

// checkoutScript gets the commit of the event, as actions/checkout does.
const checkoutScript = `git clone -q "$CI_REMOTE" . && git checkout -q $CI_CHECKOUT`

// expandUses puts the steps of actions in their places.
func expandUses(t *testing.T, repository string, steps []githubStep) (all []githubStep) {
	t.Helper()
	for _, s := range steps {
		switch {
		case s.Uses == "":
			all = append(all, s)
		case strings.HasPrefix(s.Uses, "actions/checkout@"):
			all = append(all, githubStep{Run: checkoutScript, With: s.With})
		case strings.HasPrefix(s.Uses, "./"):
			var action struct {
				Runs struct {
					Steps []githubStep `yaml:"steps"`
				} `yaml:"runs"`
			}
			readYAML(t, filepath.Join(repository, s.Uses, "action.yaml"), &action)
			all = append(all, expandUses(t, repository, action.Runs.Steps)...)
		default:
			t.Fatalf("an action that is not known: %s", s.Uses)
		}
	}
	return all
}

// githubShell is what GitHub runs a step with.
func githubShell(s githubStep) string {
	if s.Shell == "bash" {
		return "bash --noprofile --norc -eo pipefail"
	}
	return "bash -e"
}

// gitlabJob is what the test knows of a job of GitLab.
type gitlabJob struct {
	Rules []struct {
		If string `yaml:"if"`
	} `yaml:"rules"`
	Script      []string  `yaml:"script"`
	Environment yaml.Node `yaml:"environment"`
	Parallel    struct {
		Matrix []map[string][]string `yaml:"matrix"`
	} `yaml:"parallel"`
}

// environment is the name of the environment whose variables a job has.
func (j gitlabJob) environment() string {
	var named struct {
		Name string `yaml:"name"`
	}
	if j.Environment.Kind == yaml.ScalarNode || j.Environment.Decode(&named) != nil {
		return j.Environment.Value
	}
	return named.Name
}

// gitlabSteps are the jobs that GitLab runs for an event.
func gitlabSteps(t *testing.T, repository string, event map[string]string) (steps []pipelineStep) {
	t.Helper()
	var pipeline struct {
		Stages    []string          `yaml:"stages"`
		Variables map[string]string `yaml:"variables"`
		Default   struct {
			Before []string `yaml:"before_script"`
		} `yaml:"default"`
		Jobs map[string]yaml.Node `yaml:",inline"`
	}
	readYAML(t, filepath.Join(repository, ".gitlab-ci.yml"), &pipeline)
	for _, stage := range pipeline.Stages { // each has the job of its name
		node := pipeline.Jobs[stage]
		var job gitlabJob
		if err := node.Decode(&job); err != nil || len(job.Script) == 0 {
			t.Fatalf("job %s: %v", stage, err)
		}
		runs := false
		for _, rule := range job.Rules {
			runs = runs || holds(t, rule.If, event)
		}
		if !runs {
			continue
		}
		env := maps.Clone(pipeline.Variables)
		for _, name := range []string{"CI_COMMIT_BRANCH", "CI_DEFAULT_BRANCH"} {
			env[name] = event["$"+name]
		}
		if job.environment() == "render" { // the variables of that environment
			env["SOPS_AGE_KEY"], env["TALOSGEN_PUSH_TOKEN"] = event["$SOPS_AGE_KEY"], event["$TALOSGEN_PUSH_TOKEN"]
		}
		for _, m := range job.Parallel.Matrix {
			env["ENV"] = strings.Join(m["ENV"], "")
			env["HCLOUD_TOKEN"] = event["$HCLOUD_TOKEN"]
			if job.environment() == "$ENV" { // the key is a variable of this environment alone
				env["SOPS_AGE_KEY"] = event["$SOPS_AGE_KEY"]
			}
		}
		if stage == "plan" || stage == "drift" {
			env["HCLOUD_TOKEN"] = event["$HCLOUD_TOKEN"]
			for _, name := range []string{"TALOSGEN_REPORT_TOKEN", "CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_DIFF_BASE_SHA"} {
				env[name] = event["$"+name]
			}
		}
		script := strings.Join(slices.Concat([]string{checkoutScript}, pipeline.Default.Before, job.Script), "\n")
		steps = append(steps, pipelineStep{job: stage, env: env, shell: "bash -eo pipefail", script: script})
	}
	return steps
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var expression = regexp.MustCompile(`\$\{\{ *([a-zA-Z0-9_.-]+) *\}\}`)

// expandAll fills in the expressions of variables.
func expandAll(t *testing.T, env, context map[string]string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, value := range env {
		all[name] = expression.ReplaceAllStringFunc(value, func(e string) string {
			return lookUp(t, expression.FindStringSubmatch(e)[1], context)
		})
	}
	return all
}

func lookUp(t *testing.T, name string, context map[string]string) string {
	t.Helper()
	value, ok := context[name]
	if !ok && !strings.HasPrefix(name, "vars.") && !strings.HasPrefix(name, "$TALOSGEN_") {
		t.Fatalf("the event has no %s", name)
	}
	return value
}

// beginning is the condition that a text begins with another, as GitHub or as GitLab
// writes it.
var beginning = regexp.MustCompile(`^(?:startsWith\(([a-z_.]+), '(.*)'\)|(\$\w+) =~ /\^(\w+\\/)/)$`)

// holds evaluates a condition: comparisons, of which all must hold.
func holds(t *testing.T, condition string, context map[string]string) bool {
	t.Helper()
	if condition == "" {
		return true
	}
	for _, part := range strings.Split(condition, " && ") {
		if found := beginning.FindStringSubmatch(part); found != nil {
			if !strings.HasPrefix(lookUp(t, found[1]+found[3], context), found[2]+strings.ReplaceAll(found[4], `\/`, "/")) {
				return false
			}
			continue
		}
		left, right, equal := strings.Cut(part, " == ")
		unequal := false
		if !equal {
			left, right, unequal = strings.Cut(part, " != ")
		}
		if !equal && !unequal {
			t.Fatalf("a condition that the test cannot evaluate: %s", condition)
		}
		value := func(s string) string {
			if s[0] == '\'' || s[0] == '"' {
				return s[1 : len(s)-1]
			}
			return lookUp(t, s, context)
		}
		if (value(left) == value(right)) != equal {
			return false
		}
	}
	return true
}

// pipelineScript writes what a runner does: each job in an empty directory and
// an empty home, with what its steps add to the path.
func pipelineScript(dir string, steps []pipelineStep) (string, error) {
	var b bytes.Buffer
	job := ""
	for i, s := range steps {
		if s.job != job {
			job = s.job
			fmt.Fprintf(&b, "CI_JOB='%s/%d-%s'; CI_PATH=\"$PATH\"\nmkdir -p \"$CI_JOB/work\" \"$CI_JOB/home\" \"$CI_JOB/temp\"\n: > \"$CI_JOB/path\"\n", dir, i, job)
		}
		file := filepath.Join(dir, fmt.Sprintf("step-%d.sh", i))
		if err := writeFile(file, []byte(s.script)); err != nil {
			return "", err
		}
		var env strings.Builder
		for _, name := range slices.Sorted(maps.Keys(s.env)) {
			fmt.Fprintf(&env, " %s='%s'", name, s.env[name])
		}
		fmt.Fprintf(&b, "(cd \"$CI_JOB/work\" && env -u HCLOUD_TOKEN GITHUB_API_URL=https://api.github.example GITHUB_SERVER_URL=\"$CI_FORGE\" GITHUB_REPOSITORY=example/clusters CI_SERVER_URL=\"$CI_FORGE\" CI_PROJECT_PATH=example/clusters HOME=\"$CI_JOB/home\" XDG_CONFIG_HOME=\"$CI_JOB/home\" RUNNER_TEMP=\"$CI_JOB/temp\" GITHUB_PATH=\"$CI_JOB/path\" GITHUB_STEP_SUMMARY='%s/summary' PATH=\"$CI_PATH\"%s %s '%s') || { echo \"job %s failed\"; exit 1; }\n",
			dir, env.String(), s.shell, file, s.job)
		b.WriteString("while read -r line; do CI_PATH=\"$line:$CI_PATH\"; done < \"$CI_JOB/path\"\n")
	}
	return b.String(), nil
}
