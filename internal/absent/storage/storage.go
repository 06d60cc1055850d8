// Package storage takes the place of Google's client for Cloud Storage, which
// getsops/sops links for a command that publishes files to buckets. talosgen has
// no such command, and the client is an eighth of the program (see decision
// 0018). It has what sops calls, and opens nothing.
package storage

import (
	"context"
	"errors"
	"io"
)

// ErrAbsent says that this program has no client for Cloud Storage.
var ErrAbsent = errors.New("no client for Google Cloud Storage is linked: use `sops publish`")

// Client would talk to Cloud Storage.
type Client struct{}

// NewClient refuses with [ErrAbsent].
func NewClient(context.Context) (*Client, error) { return nil, ErrAbsent }

// Bucket names a bucket.
func (*Client) Bucket(string) Bucket { return Bucket{} }

// Bucket would be a bucket.
type Bucket struct{}

// Object names an object of the bucket.
func (Bucket) Object(string) Object { return Object{} }

// Object would be an object of a bucket.
type Object struct{}

// NewWriter returns a writer that refuses everything with [ErrAbsent].
func (Object) NewWriter(context.Context) io.WriteCloser { return refusing{} }

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, ErrAbsent }
func (refusing) Close() error              { return ErrAbsent }
