package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// newUsers is [firsts] in a folder that does not stay; a build that takes more than so
// many times what it takes in the first checkout is an error.
func newUsers(checkouts []string, runs int, bound float64) error {
	dir, err := os.MkdirTemp("", "talosgen-bench-")
	if err != nil {
		return err
	}
	costs, err := firsts(dir, checkouts, runs)
	return errors.Join(err, dearer(costs, bound), os.RemoveAll(dir))
}

// firsts measures what a new user waits for, with each checkout: to build the program
// with nothing compiled, to render the first repository, to try a cluster. Modules are
// those that have been downloaded. It returns what the builds cost.
func firsts(dir string, checkouts []string, runs int) (costs []cost, err error) {
	newcomers := make([]newcomer, 0, len(checkouts))
	for i, checkout := range checkouts {
		n := newcomer{checkout: checkout, binary: filepath.Join(dir, fmt.Sprintf("talosgen-%d", i)), home: filepath.Join(dir, fmt.Sprintf("home-%d", i))}
		if err := os.MkdirAll(n.home, 0o755); err != nil {
			return nil, err
		}
		newcomers = append(newcomers, n)
	}
	fmt.Println("| checkout | what | CPU | wall |")
	fmt.Println("|---|---|---|---|")
	for _, what := range []struct {
		name string
		runs int
		once func(newcomer, int) (sample, error)
	}{
		{building, 1, newcomer.build},
		{"init", runs, newcomer.initialise},
		{"secrets sync", runs, newcomer.sync},
		{"render", runs, newcomer.render},
		{"try", 1, newcomer.try},
	} {
		samples := make([][]sample, len(newcomers))
		for run := range what.runs {
			for i, n := range newcomers {
				s, err := what.once(n, run)
				if err != nil {
					return costs, err
				}
				samples[i] = append(samples[i], s)
			}
		}
		if what.name == building {
			costs = costOfBuild(samples)
		}
		for i, n := range newcomers {
			cpu := median(samples[i], func(s sample) time.Duration { return s.cpu })
			wall := median(samples[i], func(s sample) time.Duration { return s.wall })
			fmt.Printf("| %s | %s | %.2f s | %.2f s |\n", n.checkout, what.name, cpu.Seconds(), wall.Seconds())
		}
	}
	return costs, nil
}

// building is the step that has a bound: the others are renders, which have one of their
// own, or luck.
const building = "build from nothing"

// costOfBuild is what a build costs in the last checkout, beside the first one; none
// without another checkout.
func costOfBuild(samples [][]sample) []cost {
	if len(samples) < 2 {
		return nil
	}
	least := func(of []sample) time.Duration {
		return slices.MinFunc(of, func(a, b sample) int { return cmp.Compare(a.cpu, b.cpu) }).cpu
	}
	return []cost{{what: building, now: least(samples[len(samples)-1]), before: least(samples[0])}}
}

// newcomer is somebody who has a checkout, and nothing else.
type newcomer struct{ checkout, binary, home string }

// build builds the program, with a cache that is empty.
func (n newcomer) build(int) (sample, error) {
	cache := n.home + "-cache"
	s, err := n.run(n.checkout, []string{"GOCACHE=" + cache}, "go", "build", "-trimpath", "-o", n.binary, "./cmd/talosgen")
	return s, errors.Join(err, os.RemoveAll(cache))
}

// initialise makes a repository. Most of it is the search for the primes of an RSA key of
// 4096 bits, which takes as long as it has luck: five runs say little of it.
func (n newcomer) initialise(run int) (sample, error) {
	return n.talosgen(n.home, "init", n.repository(run))
}

// sync makes the secrets that the repository lacks.
func (n newcomer) sync(run int) (sample, error) {
	return n.talosgen(n.repository(run), "secrets", "sync", "dev")
}

// render renders the repository for the first time.
func (n newcomer) render(run int) (sample, error) {
	return n.talosgen(n.repository(run), "render", "dev")
}

// try is the first cluster, simulated.
func (n newcomer) try(int) (sample, error) {
	return n.talosgen(n.repository(0), "try", "dev")
}

// repository is the folder of a run's repository.
func (n newcomer) repository(run int) string {
	return filepath.Join(n.home, fmt.Sprintf("cluster-%d", run))
}

// talosgen runs the program in a folder.
func (n newcomer) talosgen(dir string, args ...string) (sample, error) {
	return n.run(dir, []string{"HCLOUD_TOKEN=" + strings.Repeat("a", 64)}, n.binary, args...)
}

// run runs a command, in a home of its own with what a build needs.
func (n newcomer) run(dir string, more []string, program string, args ...string) (sample, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+n.home, "XDG_CONFIG_HOME="+filepath.Join(n.home, ".config"))
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return sample{}, err
		}
		cmd.Env = append(cmd.Env, name+"="+string(value[:len(value)-1]))
	}
	cmd.Env = append(cmd.Env, more...)
	return timed(cmd)
}
