//go:build unix

package main

import "os"

// knowsSequences reports whether a terminal knows the sequences that move its cursor and
// colour its text.
func knowsSequences(*os.File) bool { return true }
