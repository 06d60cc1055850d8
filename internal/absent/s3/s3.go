// Package s3 takes the place of Amazon's client for S3, which getsops/sops links for
// the command that publishes files to buckets, as it does the one for Cloud Storage.
// The linker drops nearly all of it, but to compile it took longer than any other
// package (see decision 0018). It has what sops calls, and sends nothing.
package s3

import (
	"context"
	"errors"
	"io"
)

// ErrAbsent says that this program has no client for S3.
var ErrAbsent = errors.New("no client for Amazon S3 is linked: use `sops publish`")

// Client would talk to S3.
type Client struct{}

// NewFromConfig has a client that refuses; the configuration is not looked at.
func NewFromConfig(any) *Client { return &Client{} }

// PutObjectInput is an object that would be written.
type PutObjectInput struct {
	Body        io.Reader
	Bucket, Key *string
}

// PutObjectOutput would tell what became of it.
type PutObjectOutput struct{}

// PutObject refuses with [ErrAbsent].
func (*Client) PutObject(context.Context, *PutObjectInput) (*PutObjectOutput, error) {
	return nil, ErrAbsent
}
