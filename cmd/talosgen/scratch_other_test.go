//go:build !linux

package main

// memory is where temporary files are: no folder in memory is known.
func memory() string { return "" }
