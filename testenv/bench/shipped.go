package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// shipped measures prod of this repository, which has addons, on copies of its
// sources. The one label that is changed leaves the addons as they are.
func shipped(dir string, programs []program, runs int) ([]cost, error) {
	label := "envs/prod/patches/worker/bench.yaml"
	var clusters []cluster
	for i, p := range programs {
		repo := filepath.Join(dir, fmt.Sprintf("shipped-%d", i))
		if err := copyShipped(repo); err != nil {
			return nil, fmt.Errorf("copying the sources of prod: %w", err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, label)), 0o755); err != nil {
			return nil, err
		}
		clusters = append(clusters, cluster{program: p, repo: repo, env: "prod"})
	}
	fmt.Println("\nprod of this repository, with its addons:")
	fmt.Println()
	head("environment")
	return rows(clusters, "prod | 7", label, runs)
}

// copyShipped copies what environments of this repository are rendered from.
func copyShipped(repo string) error {
	for _, source := range []string{"envs", "patches"} {
		if err := os.CopyFS(filepath.Join(repo, source), os.DirFS(source)); err != nil {
			return err
		}
	}
	rules, err := os.ReadFile(".sops.yaml")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(repo, ".sops.yaml"), rules, 0o644)
}
