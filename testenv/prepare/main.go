// Command prepare builds the real programs that talosgen's tests run, each
// from its published Go module, into a cache folder outside of the checkout:
//
//	go run ./testenv/prepare [-list] [-nightly] [tools | tools/sops | kube | talosnode | …]
//
// It builds only what is missing, may be interrupted and run again, and may
// run several times at once.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("prepare", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: go run ./testenv/prepare [-list] [-nightly] [tools | tools/<name> | kube | talosnode]…")
		flags.PrintDefaults()
	}

	list := flags.Bool("list", false, "say what is there, and build nothing")
	nightly := flags.Bool("nightly", false, "also what only tests of the nightly level run")
	if err := flags.Parse(args); err != nil {
		return err
	}

	modules, err := choose(cache.Modules(), flags.Args(), *nightly)
	if err != nil {
		return err
	}

	programs, err := cache.Open()
	if err != nil {
		return err
	}

	if *list {
		return printList(stdout, programs, modules)
	}

	prepareHost(thisHost(stderr), stderr, modules)

	b := builder{cache: programs, out: stderr, parallel: parallel()}
	if err := b.buildAll(ctx, modules); err != nil {
		return err
	}

	return printList(stdout, programs, modules)
}

// choose returns the modules that the names stand for: a module's folder, or
// the folder above it for all of its modules. No name means all. Those of the
// nightly level are asked for by a flag, or by their own name.
func choose(all []cache.Module, names []string, nightly bool) ([]cache.Module, error) {
	if len(names) == 0 {
		names = []string{""}
	}

	var chosen []cache.Module

	for _, name := range names {
		before := len(chosen)

		for _, m := range all {
			within := name == "" || strings.HasPrefix(m.Folder, strings.TrimSuffix(name, "/")+"/")
			if m.Folder == name || within && (nightly || !m.Nightly()) {
				chosen = append(chosen, m)
			}
		}

		if len(chosen) == before {
			return nil, fmt.Errorf("there is nothing named %s; -list shows what there is", name)
		}
	}

	return chosen, nil
}
