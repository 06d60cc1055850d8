package kubeenv

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// ArgoNamespace is where Argo CD runs.
const ArgoNamespace = "argocd"

// argoProgram is the file with all programs of Argo CD.
const argoProgram = "argocd"

// The ports of Flux' operator, which does not run beside it; the others are Argo CD's own.
const (
	portArgoRepositoryMetrics = portOperatorHealth
	portArgoMetrics           = portOperatorMetrics
)

// ArgoDir is the folder with what Argo CD brings: its custom resource definitions, in
// crds. Tests with it are of the nightly level, and are skipped at others.
func ArgoDir(t testing.TB) string {
	t.Helper()

	toolenv.Nightly(t)

	return toolenv.Folder(t, "tools/argocd")
}

// StartArgoCD starts Argo CD's application controller, the server of repositories and
// the store of both, as administrators of the cluster from outside of it, once their
// kinds are defined and their namespace and settings are there. It looks at Git every
// other second. They end with the cluster.
func (c *Cluster) StartArgoCD(t testing.TB) {
	t.Helper()

	c.config.argo = ArgoDir(t)

	if err := c.startArgo(); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) startArgo() error {
	user, err := c.keys.client("argocd", "system:masters")
	if err != nil {
		return err
	}

	kubeconfig, err := c.keys.writeKubeconfig(c.URL, user, "argocd.kubeconfig")
	if err != nil {
		return err
	}

	bin := c.instance.file("argocd-bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}

	for _, name := range []string{"kustomize", "argocd-git-ask-pass"} {
		if err := os.Symlink(filepath.Join(c.config.argo, argoProgram), filepath.Join(bin, name)); err != nil {
			return err
		}
	}

	// Nobody asks for signatures here, but it looks for them.
	if err := os.WriteFile(filepath.Join(bin, "git-verify-wrapper.sh"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		return err
	}

	var ports []string
	for _, port := range []int{portArgoStore, portArgoRepositories, portArgoRepositoryMetrics, portArgoMetrics} {
		_, number, err := net.SplitHostPort(c.instance.address(port))
		if err != nil {
			return err
		}

		ports = append(ports, number)
	}

	store, repositories := c.instance.address(portArgoStore), c.instance.address(portArgoRepositories)
	env := []string{
		"KUBECONFIG=" + kubeconfig, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false",
		"PATH=" + bin + ":" + os.Getenv("PATH"), "ARGOCD_SYNC_WAVE_DELAY=1",
	}
	if _, err := c.start(argoProgram, env, "store", store); err != nil {
		return err
	}

	host, _, err := net.SplitHostPort(repositories)
	if err != nil {
		return err
	}

	server, err := c.startAs("argocd-repo-server", argoProgram, env,
		"repo-server", "--redis="+store, "--disable-tls", "--client-ca-path=", "--address="+host, "--port="+ports[1],
		"--metrics-address="+host, "--metrics-port="+ports[2], "--revision-cache-expiration=1s")
	if err != nil {
		return err
	}

	err = server.wait(func() error {
		return healthy(http.DefaultClient, "http://"+net.JoinHostPort(host, ports[2])+"/healthz")
	})
	if err != nil {
		return err
	}

	controller, err := c.startAs("argocd-application-controller", argoProgram, env,
		"application-controller", "--kubeconfig="+kubeconfig, "--namespace="+ArgoNamespace, "--redis="+store, "--repo-server="+repositories, "--repo-server-plaintext",
		"--metrics-port="+ports[3], "--app-resync=2", "--app-resync-jitter=0")
	if err != nil {
		return err
	}

	return controller.wait(func() error {
		return healthy(http.DefaultClient, "http://"+net.JoinHostPort(host, ports[3])+"/healthz")
	})
}
