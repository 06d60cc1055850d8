// Command control-plane is etcd, kube-apiserver and kube-controller-manager
// in one binary, because most of their code is the same: it is the program
// that it is called as.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // time zones of CronJobs, as upstream's mains have them

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the client
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric of the version
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	var command *cobra.Command

	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = controllers.NewControllerManagerCommand()
	default:
		fmt.Fprintf(os.Stderr, "%s is none of etcd, kube-apiserver, kube-controller-manager\n", name)
		os.Exit(2)
	}

	os.Exit(cli.Run(command))
}
