package reach

import "github.com/talosgen/talosgen/schemas"

// OnLoopback reports whether a URL is of this machine alone.
func OnLoopback(endpoint string) bool { return schemas.IsOnThisMachine(endpoint) }
