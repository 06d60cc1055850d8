package nodes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/nodes"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// misses is an API of Kubernetes that hears nothing of a node since a while.
type misses struct {
	nodes.Kubernetes
	node  string
	since time.Duration
}

// Registered lists nodes.
func (k misses) Registered(ctx context.Context) ([]kube.Node, error) {
	all, err := k.Kubernetes.Registered(ctx)
	for i := range all {
		if all[i].Name == k.node {
			all[i].Ready, all[i].Since = false, time.Now().Add(-k.since)
		}
	}
	return all, err
}

// TestHearsay: a plan says of a node that is not reached what the cloud and Kubernetes
// say of it, and of no other one. It is to be replaced only after a quarter of an hour.
func TestHearsay(t *testing.T) {
	for since, want := range map[time.Duration]string{
		15*time.Minute - time.Second: "it is reached when its server runs",
		15 * time.Minute:             "it is reached when its server runs",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.made("cp-1", "w-1")
			w.fleet.Machine("w-1").PowerOff()
			c := w.cluster()
			c.Kubernetes = misses{w.kube, "w-1", since}
			for _, server := range []string{"off", ""} {
				c.Machines[1].Server = server
				if server == "" {
					want = map[bool]string{true: "if the machine is lost for good, replace it: talosgen replace", false: "it may be starting"}[since >= 15*time.Minute]
				}
				p, err := w.plan(t.Context(), c, nodeplan.Policy{})
				if err != nil {
					t.Fatal(err)
				}
				text := p.String()
				if !strings.Contains(text, want) || !strings.Contains(text, "Kubernetes says that it is not ready since "+time.Now().Add(-since).UTC().Format("2006-01-02 15:04")+" UTC") ||
					strings.Contains(text, "its server is off") != (server != "") || len(p.Warnings) != 1 {
					t.Errorf("%v, %q:\n%s", since, server, text)
				}
			}
		})
	}
}
