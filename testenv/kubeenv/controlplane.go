package kubeenv

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// The addresses of services, which exist as objects only: nothing on the
// machine has them.
const (
	serviceRange   = "10.96.0.0/16"
	serviceAddress = "10.96.0.1" // of the API server
)

// The ports of an instance's block. The first is held by the instance.
const (
	portEtcd = iota + 1
	portEtcdPeers
	portAPI
	portControllers
	portSource
	portSourceHealth
	portSourceMetrics
	portKustomizeHealth
	portKustomizeMetrics
	portHelmHealth
	portHelmMetrics
	portOperatorHealth
	portOperatorMetrics
	portArgoStore
	portArgoRepositories
)

// startControlPlane starts etcd and kube-apiserver together, because the one
// waits for the other by itself.
func (c *Cluster) startControlPlane() error {
	start := time.Now()
	defer func() { c.took = time.Since(start) }()

	var err error

	if c.keys, err = newKeys(c.instance.file("keys")); err != nil {
		return err
	}

	c.URL = "https://" + c.instance.address(portAPI)

	admin, err := c.keys.client("kubeenv", "system:masters")
	if err != nil {
		return err
	}

	if c.Kubeconfig, err = c.keys.writeKubeconfig(c.URL, admin, "kubeconfig"); err != nil {
		return err
	}

	connection, err := c.keys.tls(admin)
	if err != nil {
		return err
	}

	c.client = newClient(c.URL, connection)

	if err := c.startEtcd(); err != nil {
		return err
	}

	return c.startAPIServer()
}

func (c *Cluster) startEtcd() error {
	clients := "http://" + c.instance.address(portEtcd)
	peers := "http://" + c.instance.address(portEtcdPeers)

	// Nobody needs the data after a crash.
	_, err := c.start("etcd", nil,
		"--name=kubeenv", "--data-dir="+c.instance.file("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+clients, "--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers,
		"--initial-cluster=kubeenv="+peers)

	return err
}

func (c *Cluster) startAPIServer() error {
	p, err := c.start("kube-apiserver", nil, append(c.encryption(),
		"--etcd-servers=http://"+c.instance.address(portEtcd),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprint("--secure-port=", c.instance.port+portAPI),
		"--endpoint-reconciler-type=none", // loopback is no endpoint that it would take
		"--service-cluster-ip-range="+serviceRange,
		"--authorization-mode=Node,RBAC", "--allow-privileged",
		"--client-ca-file="+c.keys.file("ca.crt"),
		"--tls-cert-file="+c.keys.file("server.crt"), "--tls-private-key-file="+c.keys.file("server.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.keys.file("tokens.pub"),
		"--service-account-signing-key-file="+c.keys.file("tokens.key"),
		"--cert-dir="+c.instance.file("tmp"))...)
	if err != nil {
		return err
	}

	return p.wait(func() error { return c.client.healthy("/readyz") })
}

func (c *Cluster) startControllerManager() error {
	user, err := c.keys.client("system:kube-controller-manager")
	if err != nil {
		return err
	}

	kubeconfig, err := c.keys.writeKubeconfig(c.URL, user, "kube-controller-manager.kubeconfig")
	if err != nil {
		return err
	}

	port := c.instance.port + portControllers

	p, err := c.start("kube-controller-manager", nil,
		"--kubeconfig="+kubeconfig, "--use-service-account-credentials", "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprint("--secure-port=", port),
		"--tls-cert-file="+c.keys.file("server.crt"), "--tls-private-key-file="+c.keys.file("server.key"),
		"--root-ca-file="+c.keys.file("ca.crt"),
		"--service-account-private-key-file="+c.keys.file("tokens.key"),
		"--cluster-signing-cert-file="+c.keys.file("ca.crt"), "--cluster-signing-key-file="+c.keys.file("ca.key"))
	if err != nil {
		return err
	}

	other := c.client
	other.url = fmt.Sprint("https://127.0.0.1:", port)

	return p.wait(func() error { return other.healthy("/healthz") })
}

// healthy asks a health endpoint.
func (c client) healthy(path string) error {
	return healthy(c.http, c.url+path)
}

// healthy asks a health endpoint, which answers 200 when all is well.
func healthy(with *http.Client, url string) error {
	client := *with
	client.Timeout = 5 * time.Second

	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()

	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}

	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, answer.Status, text)
	}

	return nil
}
