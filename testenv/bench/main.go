// Command bench measures talosgen render as a whole process, on clusters that
// it generates: three control planes, the rest workers in pools of a hundred,
// nine patches for each node (three common, three of the role, three of the
// node), secrets in a SOPS file, everything encrypted. It prints a table of CPU and wall time and
// peak memory; it judges nothing.
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
	fmt.Println("| Talos | nodes | from scratch: CPU | wall | peak memory | nothing changed: CPU | wall | one label changed: CPU | wall |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
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
			if err := row(repo, version, n, binary, runs); err != nil {
				return err
			}
		}
	}
	return nil
}

// row measures one cluster and prints its line.
func row(repo, version string, n int, binary string, runs int) error {
	// The old tree is moved away, not removed: ext4 steps over the inodes of
	// files that were removed a moment ago, one by one, for each new file.
	scratch, err := measure(repo, binary, runs, func(run int) error {
		err := os.Rename(filepath.Join(repo, "rendered"), fmt.Sprintf("%s-old-%d-%d", repo, os.Getpid(), run))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	same, err := measure(repo, binary, runs, func(int) error { return nil })
	if err != nil {
		return err
	}
	label := filepath.Join(repo, "envs/bench/patches/nodes", workerName(1), "1.yaml")
	one, err := measure(repo, binary, runs, func(run int) error {
		return os.WriteFile(label, []byte(fmt.Sprintf("machine:\n  sysctls:\n    example.node: \"%d\"\n", run+1000)), 0o644)
	})
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %.3f s | %.3f s | %d MB | %.3f s | %.3f s | %.3f s | %.3f s |\n", version, n,
		scratch.cpu.Seconds(), scratch.wall.Seconds(), scratch.memory>>20, same.cpu.Seconds(), same.wall.Seconds(), one.cpu.Seconds(), one.wall.Seconds())
	return nil
}

type sample struct {
	cpu, wall time.Duration
	memory    int64 // bytes
}

// measure runs a render several times, each after prepare, and returns medians.
func measure(repo, binary string, runs int, prepare func(run int) error) (sample, error) {
	var samples []sample
	for run := range runs + 1 {
		if err := prepare(run); err != nil {
			return sample{}, err
		}
		s, err := once(repo, binary)
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

func once(repo, binary string) (sample, error) {
	cmd := exec.Command(binary, "render", "bench", "--repo", repo)
	cmd.Env = append(os.Environ(), "SOPS_AGE_KEY_FILE="+filepath.Join(repo, "key.txt"))
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
