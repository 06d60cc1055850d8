package main

import (
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
)

// app is what the process has of the outside. Commands get from it what they need,
// in [commands].
type app struct {
	args    []string
	console console
	vars    environ
	cwd     func() (string, error)
	clock   clock
	random  io.Reader
	http    http.RoundTripper
	lookup  lookup
	memory  func() uint64 // that the program has taken, in bytes
	// The operator's SSH keys; nil: those that flags name, or the agent's.
	signers reach.Signers
	// Hears of the runs of commands; nil: only those who see them do.
	hears func(progress.Event)
}

// systemApp is the app of a process that a person or a pipeline has started.
func systemApp() *app {
	a := &app{
		console: console{
			stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
			terminal: isScreen(os.Stderr), shows: isScreen(os.Stdout), answers: isTerminal(os.Stdin),
			size: func() size { return terminalSize(os.Stderr) }, page: func() size { return terminalSize(os.Stdout) },
			masker: secret.NewMasker(),
		},
		vars: os.LookupEnv, cwd: os.Getwd, clock: clock{time.Now, sleepFor}, random: rand.Reader, http: webTransport(), lookup: net.DefaultResolver.LookupHost, memory: heapMemory,
	}
	a.console.pager, a.console.links = systemPager(a.vars, &a.console), systemLinks(a.vars)
	return a
}

func (a *app) keys() keySource { return keySource{a.vars, &a.console} }

func (a *app) chartCache() chartCache { return chartCache{a.vars} }

// renderProcess is what a repository has of the outside.
func (a *app) renderProcess() render.Process {
	return render.Process{
		Keys: a.keys().env(), Now: a.clock.now, Random: a.random, Given: a.vars.secret, Version: version, Masker: a.console.masker,
		ChartCache: a.chartCache().read, BoundTemplates: templateLimit{a.clock, a.memory}.bound,
	}
}

func (a *app) workspace() workspace {
	return workspace{cwd: a.cwd, process: a.renderProcess(), opened: a.console.links.within}
}

func (a *app) trees() trees {
	return trees{ws: a.workspace(), keys: a.keys(), masker: a.console.masker}
}

func (a *app) clusters() clusters {
	return clusters{
		args: a.args, ws: a.workspace(), trees: a.trees(), keys: a.keys(), out: &a.console, vars: a.vars,
		clock: a.clock, random: a.random, http: a.http, signers: a.signers, hears: a.hears,
	}
}
