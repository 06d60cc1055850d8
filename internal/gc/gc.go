// Package gc sets how often the garbage collector runs. It is imported for that alone,
// by the command, and imports next to nothing: so it is initialised before the
// libraries that allocate most, and the collector does not run before main begins.
package gc

import "runtime/debug"

// Percent is how much the heap may grow between two collections: rendering makes
// garbage fast and keeps little.
const Percent = 400

func init() { debug.SetGCPercent(Percent) }
