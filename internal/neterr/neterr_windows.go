package neterr

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// The simulators have the names of other systems, which package syscall makes up here.
var (
	refused = []error{windows.WSAECONNREFUSED, syscall.ECONNREFUSED}
	broken  = []error{windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.ERROR_BROKEN_PIPE, syscall.ECONNRESET, syscall.EPIPE}
)
