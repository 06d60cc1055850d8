package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
)

// jitter is a number from 0 to 1. It is no secret, so what is left of a source
// that fails will do.
func jitter(random io.Reader) float64 {
	var b [8]byte
	_, _ = io.ReadFull(random, b[:])
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// newToken makes a token for a simulated project.
func newToken(random io.Reader) (string, error) {
	token := make([]byte, 32)
	if _, err := io.ReadFull(random, token); err != nil {
		return "", fmt.Errorf("no randomness for a token: %w", err)
	}
	return hex.EncodeToString(token), nil
}
