package kube

import (
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
)

// parallel is how many requests are on their way at once.
const parallel = 8

// inParallel runs jobs, several at once, and returns the problems of all.
func inParallel(jobs []func() error) error {
	var problems diag.List
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, job := range jobs {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := job(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems.AddErr(err)
			}
		})
	}
	wait.Wait()
	return problems.Err()
}
