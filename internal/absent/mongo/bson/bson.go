// Package bson takes the place of MongoDB's, which Huawei's library links for services
// that speak it. The one that sops calls, for data keys, speaks JSON (see decision
// 0018). It has what that library calls, and refuses.
package bson

import "errors"

// ErrAbsent says that this program does not know BSON.
var ErrAbsent = errors.New("BSON is not linked, as no service that keeps data keys speaks it")

// Marshal refuses with [ErrAbsent].
func Marshal(any) ([]byte, error) { return nil, ErrAbsent }

// Unmarshal refuses with [ErrAbsent].
func Unmarshal([]byte, any) error { return ErrAbsent }
