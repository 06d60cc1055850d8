package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

// whole is a snapshot as etcd sends it, of a database of some blocks.
func whole(blocks int) []byte {
	database := bytes.Repeat([]byte("0123456789abcdef"), blocks*block/16)
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}

func TestVerify(t *testing.T) {
	good := whole(5)
	changed := bytes.Clone(good)
	changed[100] ^= 1
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"whole", good, ""},
		{"empty", nil, "it is empty"},
		{"only a digest", good[:sha256.Size], "it is empty"},
		{"without a digest", good[:len(good)-sha256.Size], "its size does not fit"},
		{"cut off", good[:len(good)-1], "its size does not fit"},
		{"cut off by blocks", append(bytes.Clone(good[:2*block]), good[len(good)-sha256.Size:]...), "does not fit the digest"},
		{"changed", changed, "does not fit the digest"},
		{"not a snapshot", []byte(strings.Repeat("x", 1000)), "its size does not fit"},
	} {
		for how, read := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "by halves": iotest.HalfReader,
		} {
			info, err := Verify(read(bytes.NewReader(test.data)))
			if test.want == "" {
				if err != nil || info.Size != 5*block || len(info.Digest) != 64 {
					t.Errorf("%s, %s: %+v (%v)", test.name, how, info, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || diag.CodeOf(err) != diag.Remote {
				t.Errorf("%s, %s: error %v, want %q", test.name, how, err, test.want)
			}
		}
	}
}

// closer notes whether it was closed.
type closer struct {
	bytes.Buffer
	closed bool
}

func (c *closer) Close() error {
	c.closed = true
	return nil
}

// TestTake closes what encrypts only behind a whole snapshot: without its end
// nobody takes the rest for one.
func TestTake(t *testing.T) {
	broken := errors.New("the node is gone")
	for _, test := range []struct {
		name string
		data []byte
		err  error
		ok   bool
	}{
		{"whole", whole(2), nil, true},
		{"cut off", whole(2)[:100], nil, false},
		{"interrupted", whole(2), broken, false},
	} {
		c := &closer{}
		_, err := Take(func(w io.Writer) error {
			if _, err := w.Write(test.data); err != nil {
				return err
			}
			return test.err
		}, c)
		if (err == nil) != test.ok || c.closed != test.ok || test.err != nil && !errors.Is(err, test.err) {
			t.Errorf("%s: closed %v (%v)", test.name, c.closed, err)
		}
		if test.ok && !bytes.Equal(c.Bytes(), test.data) {
			t.Errorf("%s: something else was written", test.name)
		}
	}
}

func TestFileName(t *testing.T) {
	at := time.Date(2026, 11, 21, 22, 5, 9, 0, time.FixedZone("CET", 3600))
	if got := FileName("prod", at); got != "prod-etcd-20261121T210509Z.db.age" {
		t.Error(got)
	}
}
