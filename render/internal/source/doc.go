// Package source reads the sources of an environment: its files, once and with
// their digests, what of them is encrypted, and the state that was committed
// before. It refuses what may not be read: links that lead out of the repository,
// secrets in the clear, keys of another environment or of another render.
package source
