// Command argocd is what of Argo CD makes objects of what Git has: its application
// controller and its server of repositories, the store that both keep their cache in,
// and what the latter runs, kustomize and an asker of passwords. Upstream's main has
// everything else, too. Which of them it is says the name that it is called by, or else
// its first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	askpass "github.com/argoproj/argo-cd/v3/cmd/argocd-git-ask-pass/commands"
	repositories "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	name := filepath.Base(os.Args[0])
	if name == "argocd" && len(os.Args) > 1 {
		name, os.Args = os.Args[1], os.Args[1:]
	}
	if err := run(name, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string, args []string) error {
	switch name {
	case "application-controller":
		return controller.NewCommand().Execute()
	case "repo-server":
		return repositories.NewCommand().Execute()
	case "argocd-git-ask-pass":
		return askpass.NewCommand().Execute()
	case "kustomize":
		return build(args[len(args)-1])
	case "store":
		return keep(args[0])
	}
	return fmt.Errorf("there is no program %q", name)
}

// keep is the store. It forgets by a clock that has to be moved.
func keep(address string) error {
	store := miniredis.NewMiniRedis()
	if err := store.StartAddr(address); err != nil {
		return err
	}
	for range time.Tick(time.Second) {
		store.FastForward(time.Second)
	}
	return nil
}

// build prints what a kustomization makes, as kustomize build does.
func build(dir string) error {
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return err
	}
	text, err := made.AsYaml()
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	return err
}
