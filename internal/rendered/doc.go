// Package rendered is what a rendered tree, rendered/<env>, looks like to those
// who read it: the lock that names every input and output by its digest, and
// the seal that shows edits. It is the seam between render, which writes such
// trees, and apply, which must not trust one before it has looked.
package rendered
