// Package neterr says what an error of a connection means, on every system: Windows has
// numbers of its own for what others call ECONNREFUSED and ECONNRESET.
package neterr

import (
	"errors"
	"slices"
)

// Refused reports whether nobody listens at an address, and its machine says so.
func Refused(err error) bool { return isAny(err, refused) }

// Broken reports whether a connection was there, and the other side has cut it.
func Broken(err error) bool { return isAny(err, broken) }

func isAny(err error, all []error) bool {
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}
