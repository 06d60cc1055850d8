// Package apply makes reality equal to a rendered tree: it observes what there
// is, plans what to change, executes the plan and looks again.
//
// It reads rendered/<env> and nothing else of a repository, so what was reviewed
// is what runs. [Open] believes nothing in it before the lock fits the files and
// the seal fits the lock.
//
// There is no promise of a stable API before version 1.
package apply
