package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/talosgen/talosgen/internal/versions"
)

// fleet is a repository with many environments, and the simulated project that they are
// planned against.
type fleet struct {
	binary, repo string
	envs, nodes  int
}

// many measures `plan --all` of many environments of one project: against one that has
// nothing yet, and against one that has it all.
func many(dir, binary string, envs, nodes int) error {
	f := fleet{binary, filepath.Join(dir, "many"), envs, nodes}
	if err := f.generate(); err != nil {
		return err
	}
	fmt.Printf("\nplan --all --stage infrastructure, %d environments of %d nodes in one simulated project, one run each:\n\n", envs, nodes)
	fmt.Println("| project | jobs | CPU | CPU for each environment | wall | peak memory | requests |")
	fmt.Println("|---|---|---|---|---|---|---|")
	if err := f.rows("nothing yet", 1, nil); err != nil {
		return err
	}
	return f.rows("as in Git", 0, []string{"apply", "--all", "--allow-dirty", "--yes", "--stage", "infrastructure"})
}

// rows measures plans in a project of its own, in which something may be done first.
func (f fleet) rows(name string, code int, first []string) error {
	project, stop, err := f.project()
	if err != nil {
		return err
	}
	defer stop()
	if first != nil {
		if _, err := f.run(project, 0, first...); err != nil {
			return err
		}
	}
	for _, jobs := range []string{"1", "4"} {
		if err := f.row(name, project, jobs, code); err != nil {
			return err
		}
	}
	return nil
}

// generate writes the environments, and renders them.
func (f fleet) generate() error {
	for i := 1; i <= f.envs; i++ {
		env := fmt.Sprintf("env-%02d", i)
		text := strings.NewReplacer("clusterName: bench", "clusterName: "+env, "https://api.example.com", "https://"+env+".example.com").Replace(clusterYAML(versions.Newest().Talos, f.nodes))
		file := filepath.Join(f.repo, "envs", env, "cluster.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	env, err := newKey(f.repo)
	if err != nil {
		return err
	}
	for i := 1; i <= f.envs; i++ {
		if err := run(f.repo, env, f.binary, "secrets", "init", fmt.Sprintf("env-%02d", i)); err != nil {
			return err
		}
	}
	return run(f.repo, env, f.binary, "render", "--all")
}

// project starts a simulated project with what the environments expect of it. It has no
// limits: to make them all takes more requests than an hour has, and how many a plan makes
// is what its row says.
func (f fleet) project() (variables []string, stop func(), err error) {
	args := []string{"sim", "--speed", "0", "--seed", "env-01"}
	for _, kind := range []string{"cores", "firewalls", "floating-ips", "load-balancers", "networks", "primary-ips", "requests", "servers", "snapshots", "volumes"} {
		args = append(args, "--limit", kind+"=100000")
	}
	sim := exec.Command(f.binary, args...)
	sim.Dir, sim.Stderr = f.repo, os.Stderr
	out, err := sim.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := sim.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = sim.Process.Signal(os.Interrupt) // it ends with the bench at the latest
		_ = sim.Wait()
	}
	lines := bufio.NewScanner(out)
	for len(variables) < 2 && lines.Scan() {
		if name, value, is := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "="); is && strings.HasPrefix(name, "HCLOUD_") {
			variables = append(variables, name+"="+strings.Trim(value, `"'`))
		}
	}
	if len(variables) < 2 {
		stop()
		return nil, nil, fmt.Errorf("talosgen sim does not say where the project is: %v", lines.Err())
	}
	return variables, stop, nil
}

// ran is what a command took.
type ran struct {
	sample
	requests int
}

// requestsLine is what talosgen says of the requests of an environment.
var requestsLine = regexp.MustCompile(`(?m)^ *([0-9]+) requests?, `)

// run runs talosgen, which has to end with a code.
func (f fleet) run(project []string, code int, args ...string) (ran, error) {
	cmd := exec.Command(f.binary, args...)
	cmd.Dir, cmd.Env = f.repo, append(append(os.Environ(), "SOPS_AGE_KEY_FILE="+filepath.Join(f.repo, "key.txt")), project...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	r := ran{sample: sample{wall: time.Since(start)}}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		return r, fmt.Errorf("talosgen %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss * 1024
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	for _, found := range requestsLine.FindAllSubmatch(said.Bytes(), -1) {
		n, _ := strconv.Atoi(string(found[1]))
		r.requests += n
	}
	return r, nil
}

// row measures a plan, and prints its line.
func (f fleet) row(name string, project []string, jobs string, code int) error {
	r, err := f.run(project, code, "plan", "--all", "--allow-dirty", "--stage", "infrastructure", "--jobs", jobs)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %s | %.2f s | %.0f ms | %.2f s | %d MB | %d |\n", name, jobs, r.cpu.Seconds(), r.cpu.Seconds()*1000/float64(f.envs), r.wall.Seconds(), r.memory>>20, r.requests)
	return nil
}
