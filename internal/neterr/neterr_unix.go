//go:build unix

package neterr

import "syscall"

var (
	refused = []error{syscall.ECONNREFUSED}
	broken  = []error{syscall.ECONNRESET, syscall.EPIPE}
)
