// Package bundle makes an archive of texts for those who help. Every text passes what
// masks secrets, and a text that could not be had is in it as that. It is pure.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"strings"
	"time"
)

// Bundle is an archive that is being made.
type Bundle struct {
	Name     string // of its folder
	Clean    func(string) string
	files    []file
	contents []string
}

type file struct {
	name string
	text string
}

// mostText is how many bytes one text has; the rest is cut.
const mostText = 8 << 20

// Add adds a text, or why it could not be had.
func (b *Bundle) Add(name, text string, err error) {
	if err != nil {
		b.contents = append(b.contents, name+": could not be read")
		b.files = append(b.files, file{name + ".failed", b.Clean(err.Error()) + "\n"})
		if text == "" {
			return
		}
	}
	text = b.Clean(text)
	if len(text) > mostText {
		text = text[:mostText] + "\n… (cut)\n"
	}
	b.contents = append(b.contents, name)
	b.files = append(b.files, file{name, text})
}

// Failed are the names of what could not be had.
func (b *Bundle) Failed() (names []string) {
	for _, f := range b.files {
		if name, is := strings.CutSuffix(f.name, ".failed"); is {
			names = append(names, name)
		}
	}
	return names
}

// Write makes the archive, a tar file with gzip. A list of what is in it is the first.
func (b *Bundle) Write(now time.Time) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	list := file{"README.txt", "What was read of this cluster, with secrets masked. Look through it before you give it away.\n\n" + strings.Join(b.contents, "\n") + "\n"}
	for _, f := range append([]file{list}, b.files...) {
		head := &tar.Header{Name: path.Join(b.Name, f.name), Mode: 0o600, Size: int64(len(f.text)), ModTime: now.UTC().Truncate(time.Second), Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := archive.Write([]byte(f.text)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
