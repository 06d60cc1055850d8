// Command bench measures talosgen render as a whole process, on clusters that
// it generates: three control planes, the rest workers in pools of a hundred,
// nine patches for each node (three common, three of the role, three of the
// node), secrets in a SOPS file, everything encrypted; on prod of this
// repository, with its addons; and on twelve charts of usual size. It prints tables of
// CPU and wall time and peak memory. It judges nothing, but for -bound and -charts.
//
//	go run ./testenv/bench            all sizes, medians of five runs
//	go run ./testenv/bench -runs 1 -sizes 6,50
//	go run ./testenv/bench -against ../talosgen-of-before
//	go run ./testenv/bench -against ../talosgen-of-before -bound 1.25   fails if it costs more
//	go run ./testenv/bench -charts    in place of these, the charts; fails if they cost more than they may
//	go run ./testenv/bench -envs 50   in place of these, plans of many environments
//	go run ./testenv/bench -first ../before,.   what a new user waits for, in checkouts
//	go run ./testenv/bench -first ../before,. -bound 1   fails if a build costs more
package main

import (
	"cmp"
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

	"github.com/talosgen/talosgen/internal/versions"
)

func main() {
	runs := flag.Int("runs", 5, "counted runs of each measurement, after one that is not")
	sizes := flag.String("sizes", "6,50,200,1000", "numbers of nodes")
	contracts := flag.String("contracts", newestTwo(), "Talos versions")
	binary := flag.String("binary", "", "the talosgen to measure; built if empty")
	against := flag.String("against", "", "another talosgen, which is measured by turns with the first one, on repositories of its own")
	bound := flag.Float64("bound", 0, "how many times what the other takes of CPU time is an error, with -against or, for builds, with -first; 0 for no bound")
	envs := flag.Int("envs", 0, "plan so many environments of 20 nodes in one simulated project, and measure nothing else")
	onlyCharts := flag.Bool("charts", false, "render charts, fail if that costs more than it may, and measure nothing else")
	first := flag.String("first", "", "checkouts with which a new user's first steps are measured, and nothing else")
	keep := flag.String("keep", "", "a directory for the generated repositories, which then stay")
	flag.Parse()
	if *first != "" {
		if err := newUsers(strings.Split(*first, ","), *runs, *bound); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *onlyCharts {
		*sizes = ""
	}
	if err := bench(*runs, *envs, strings.Split(*sizes, ","), strings.Split(*contracts, ","), *binary, rival{*against, *bound}, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// rival is another talosgen, and how many times what it takes is too much.
type rival struct {
	binary string
	bound  float64
}

func bench(runs, envs int, sizes, contracts []string, binary string, against rival, keep string) error {
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
	if envs > 0 {
		return many(dir, binary, envs, nodesOfEach)
	}
	if len(sizes) == 1 && sizes[0] == "" {
		measured, err := charts(dir, program{"", binary}, runs)
		return errors.Join(err, tooDear(measured))
	}
	programs := []program{{"", binary}}
	if against.binary != "" {
		programs = append(programs, program{" (against)", against.binary})
	}
	head("Talos")
	var costs []cost
	for _, version := range contracts {
		for _, size := range sizes {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			var clusters []cluster
			for i, p := range programs {
				repo := filepath.Join(dir, fmt.Sprintf("%s-%s-%d", version, size, i))
				if err := generate(repo, version, n, p.binary); err != nil {
					return err
				}
				clusters = append(clusters, cluster{program: p, repo: repo, env: "bench", key: filepath.Join(repo, "key.txt")})
			}
			c, err := rows(clusters, fmt.Sprintf("%s | %d", version, n), "envs/bench/patches/nodes/"+workerName(1)+"/1.yaml", runs)
			if err != nil {
				return err
			}
			costs = append(costs, c...)
		}
	}
	c, err := shipped(dir, programs, runs)
	if err == nil {
		_, err = charts(dir, programs[0], runs)
	}
	return errors.Join(err, dearer(append(costs, c...), against.bound))
}

// newest is the newest version of Talos.
func newest() string {
	all := versions.Releases()
	return all[len(all)-1].Talos
}

// newestTwo are the newest versions of the two newest releases of Talos.
func newestTwo() string {
	all := versions.Releases()
	return all[len(all)-2].Talos + "," + all[len(all)-1].Talos
}

// nodesOfEach of many environments.
const nodesOfEach = 20

// program is a talosgen that is measured.
type program struct {
	name   string // behind that of a row
	binary string
}

// head prints the head of a table, with what its first column names.
func head(first string) {
	fmt.Println("| " + first + " | nodes | from scratch: CPU | wall | peak memory | nothing changed: CPU | wall | one label changed: CPU | wall |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
}

// cluster is an environment of a repository that is measured.
type cluster struct {
	program
	repo, env string
	key       string // a file with an age key; empty if the environment names one
}

// rows is [table], and what differs between programs.
func rows(clusters []cluster, name, label string, runs int) ([]cost, error) {
	measured, err := table(clusters, name, label, runs)
	if err != nil {
		return nil, err
	}
	return costsOf(name, measured), nil
}

// What is measured.
const (
	fromScratch    = "from scratch"
	nothingChanged = "nothing changed"
)

// table measures clusters that differ in their program, by turns, and prints a line for
// each; label is the file of a patch that may be overwritten.
func table(clusters []cluster, name, label string, runs int) (map[string][]sample, error) {
	// The old tree is moved away, not removed: ext4 steps over the inodes of
	// files that were removed a moment ago, one by one, for each new file.
	scratch, err := measure(clusters, runs, func(repo string, run int) error {
		err := os.Rename(filepath.Join(repo, "rendered"), fmt.Sprintf("%s-old-%d-%d", repo, os.Getpid(), run))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	same, err := measure(clusters, runs, func(string, int) error { return nil })
	if err != nil {
		return nil, err
	}
	one, err := measure(clusters, runs, func(repo string, run int) error {
		return os.WriteFile(filepath.Join(repo, label), fmt.Appendf(nil, "machine:\n  sysctls:\n    example.node: \"%d\"\n", run+1000), 0o644)
	})
	if err != nil {
		return nil, err
	}
	for i, c := range clusters {
		fmt.Printf("| %s%s | %.3f s | %.3f s | %d MB | %.3f s | %.3f s | %.3f s | %.3f s |\n", name, c.name,
			scratch[i].cpu.Seconds(), scratch[i].wall.Seconds(), scratch[i].memory>>20, same[i].cpu.Seconds(), same[i].wall.Seconds(), one[i].cpu.Seconds(), one[i].wall.Seconds())
	}
	return map[string][]sample{fromScratch: scratch, nothingChanged: same, "one label changed": one}, nil
}

// sample is what a process took.
type sample struct {
	cpu, wall time.Duration
	least     time.Duration // CPU time of the best of several runs
	memory    int64         // bytes
}

// measure runs a render of each cluster several times, each after prepare, and returns
// the medians of each.
func measure(clusters []cluster, runs int, prepare func(repo string, run int) error) ([]sample, error) {
	samples := make([][]sample, len(clusters))
	for run := range runs + 1 {
		for i, c := range clusters {
			if err := prepare(c.repo, run); err != nil {
				return nil, err
			}
			s, err := c.once()
			if err != nil {
				return nil, err
			}
			if run > 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	medians := make([]sample, len(clusters))
	for i, of := range samples {
		medians[i] = sample{
			least:  slices.MinFunc(of, func(a, b sample) int { return cmp.Compare(a.cpu, b.cpu) }).cpu,
			cpu:    median(of, func(s sample) time.Duration { return s.cpu }),
			wall:   median(of, func(s sample) time.Duration { return s.wall }),
			memory: int64(median(of, func(s sample) time.Duration { return time.Duration(s.memory) })),
		}
	}
	return medians, nil
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
	return timed(cmd)
}

// timed runs a command, and tells what it cost with its children.
func timed(cmd *exec.Cmd) (sample, error) {
	start := time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[1:], " "), err, out)
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
