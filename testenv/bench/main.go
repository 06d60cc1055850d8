// Command bench measures talosgen render as a whole process, on clusters that
// it generates: three control planes, the rest workers in pools of a hundred,
// nine patches for each node (three common, three of the role, three of the
// node), secrets in a SOPS file, everything encrypted; and on prod of this
// repository, with its addons. It prints tables of CPU and wall time and peak
// memory; it judges nothing.
//
//	go run ./testenv/bench            all sizes, medians of five runs
//	go run ./testenv/bench -runs 1 -sizes 6,50
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	runs := flag.Int("runs", 5, "counted runs of each measurement, after one that is not")
	sizes := flag.String("sizes", "6,50,200,1000", "numbers of nodes")
	contracts := flag.String("contracts", "v1.13.9,v1.14.1", "Talos versions")
	binary := flag.String("binary", "", "the talosgen to measure; built if empty")
	keep := flag.String("keep", "", "a directory for the generated repositories, which then stay")
	flag.Parse()
	if err := bench(*runs, strings.Split(*sizes, ","), strings.Split(*contracts, ","), *binary, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int, sizes, contracts []string, binary, keep string) error {
	dir := keep
	if dir == "" {
		temp, err := os.MkdirTemp("", "talosgen-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	if binary == "" {
		binary = filepath.Join(dir, "talosgen")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/talosgen")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building talosgen: %w", err)
		}
	}
	fmt.Printf("%s, %d CPUs, %s/%s; medians of %d runs, whole process\n\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runs)
	head("Talos")
	for _, version := range contracts {
		for _, size := range sizes {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			repo := filepath.Join(dir, version+"-"+size)
			if err := generate(repo, version, n, binary); err != nil {
				return err
			}
			c := cluster{binary: binary, repo: repo, env: "bench", key: filepath.Join(repo, "key.txt")}
			label := filepath.Join(repo, "envs/bench/patches/nodes", workerName(1), "1.yaml")
			if err := c.row(fmt.Sprintf("%s | %d", version, n), label, runs); err != nil {
				return err
			}
		}
	}
	return shipped(dir, binary, runs)
}

// head prints the head of a table, with what its first column names.
func head(first string) {
	fmt.Println("| " + first + " | nodes | from scratch: CPU | wall | peak memory | nothing changed: CPU | wall | one label changed: CPU | wall |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
}

// cluster is an environment of a repository that is measured.
type cluster struct {
	binary, repo, env string
	key               string // a file with an age key; empty if the environment names one
}

// row measures an environment and prints its line; label is the file of a patch
// that may be overwritten.
func (c cluster) row(name, label string, runs int) error {
	// The old tree is moved away, not removed: ext4 steps over the inodes of
	// files that were removed a moment ago, one by one, for each new file.
	scratch, err := c.measure(runs, func(run int) error {
		err := os.Rename(filepath.Join(c.repo, "rendered"), fmt.Sprintf("%s-old-%d-%d", c.repo, os.Getpid(), run))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	same, err := c.measure(runs, func(int) error { return nil })
	if err != nil {
		return err
	}
	one, err := c.measure(runs, func(run int) error {
		return os.WriteFile(label, []byte(fmt.Sprintf("machine:\n  sysctls:\n    example.node: \"%d\"\n", run+1000)), 0o644)
	})
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %.3f s | %.3f s | %d MB | %.3f s | %.3f s | %.3f s | %.3f s |\n", name,
		scratch.cpu.Seconds(), scratch.wall.Seconds(), scratch.memory>>20, same.cpu.Seconds(), same.wall.Seconds(), one.cpu.Seconds(), one.wall.Seconds())
	return nil
}

type sample struct {
	cpu, wall time.Duration
	memory    int64 // bytes
}

// measure runs a render several times, each after prepare, and returns medians.
func (c cluster) measure(runs int, prepare func(run int) error) (sample, error) {
	var samples []sample
	for run := range runs + 1 {
		if err := prepare(run); err != nil {
			return sample{}, err
		}
		s, err := c.once()
		if err != nil {
			return sample{}, err
		}
		if run > 0 {
			samples = append(samples, s)
		}
	}
	return sample{
		cpu:    median(samples, func(s sample) time.Duration { return s.cpu }),
		wall:   median(samples, func(s sample) time.Duration { return s.wall }),
		memory: int64(median(samples, func(s sample) time.Duration { return time.Duration(s.memory) })),
	}, nil
}

func median(samples []sample, of func(sample) time.Duration) time.Duration {
	values := make([]time.Duration, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (c cluster) once() (sample, error) {
	cmd := exec.Command(c.binary, "render", c.env, "--repo", c.repo)
	if c.key != "" {
		cmd.Env = append(os.Environ(), "SOPS_AGE_KEY_FILE="+c.key)
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("render: %w\n%s", err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, fmt.Errorf("this system does not tell the memory of a process")
	}
	memory := usage.Maxrss
	if runtime.GOOS != "darwin" {
		memory *= 1024
	}
	return sample{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: wall, memory: memory}, nil
}
