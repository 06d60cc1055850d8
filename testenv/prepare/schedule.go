package main

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

// memoryEach is what one build may take in bytes: the compiler of the largest
// packages on each processor, and the linker of the largest programs.
const memoryEach = 3 << 30

// atOnce is how many builds run at the same time. go build uses all
// processors by itself, but not while it links or loads modules; more builds
// than processors gain nothing. Where nothing is known of the memory
// (available is 0), there is one at a time.
func atOnce(processors int, available uint64) int {
	return max(1, min(processors, int(available/memoryEach)))
}

func parallel() int { return atOnce(runtime.NumCPU(), availableMemory()) }

// after names the module that is built before another one: most of what they
// are built from is the same, and at the same time both would compile it.
var after = map[string]string{
	"talosnode/etcd":            "kube",
	"talosnode/etcd-3.7":        "talosnode/etcd",
	"talosnode/kubernetes":      "kube",
	"talosnode/kubernetes-1.37": "tools/kubectl",
	"talosnode/machined-1.13":   "tools/talosctl-1.13",
	"talosnode/machined-1.14":   "tools/talosctl-1.14",
}

// schedule calls build for each module, in their order, for at most limit at
// once, and returns all errors. The first one comes alone: it compiles the
// standard library, which all others share. When ctx ends, nothing more is
// begun, and the error says why.
func schedule(ctx context.Context, modules []cache.Module, limit int, build func(i int) error) error {
	type result struct {
		module int
		err    error
	}

	results := make(chan result)
	begun, ended := make([]bool, len(modules)), make([]bool, len(modules))
	errs := make([]error, len(modules))

	for running := 0; ; {
		next := nextModule(modules, begun, ended)

		if next >= 0 && running < limit && ctx.Err() == nil {
			begun[next] = true
			running++

			go func() { results <- result{next, build(next)} }()

			continue
		}

		if running == 0 {
			break
		}

		r := <-results
		running--
		ended[r.module], errs[r.module] = true, r.err
	}

	if ctx.Err() != nil {
		return context.Cause(ctx) // not once for each module
	}

	return errors.Join(errs...)
}

// nextModule is the first one that waits for nothing, or -1.
func nextModule(modules []cache.Module, begun, ended []bool) int {
	for i, m := range modules {
		// Only what comes before it, so that none can wait for itself.
		earlier := slices.IndexFunc(modules[:i], func(e cache.Module) bool { return e.Folder == after[m.Folder] })

		if !begun[i] && (i == 0 || ended[0]) && (earlier < 0 || ended[earlier]) {
			return i
		}
	}

	return -1
}
