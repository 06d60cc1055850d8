//go:build linux

package talosenv

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"runtime"
)

// image is the files of a container image.
type image []imageFile

type imageFile struct {
	path string // in the image, without a leading slash
	file string // of the host
	link string // instead of a file, what the path is a link to
	text string // instead of a file
}

// folder tells whether the path is that of an empty folder.
func (f imageFile) folder() bool {
	return f.file == "" && f.link == "" && f.text == ""
}

// blob is what a registry has under a digest.
type blob struct {
	mediaType string
	size      int64
	write     func(io.Writer) error
}

// blobs makes an image of one layer, which is not compressed and only written
// when it is asked for. It returns the digest of the manifest, and all blobs.
func (i image) blobs() (manifest string, blobs map[string]blob, err error) {
	layer, layerBlob, err := digest("application/vnd.oci.image.layer.v1.tar", i.write)
	if err != nil {
		return "", nil, err
	}

	config, configBlob, err := document("application/vnd.oci.image.config.v1+json", map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/" + i[0].path}, "Env": []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{layer}},
	})
	if err != nil {
		return "", nil, err
	}

	descriptor := func(digest string, b blob) map[string]any {
		return map[string]any{"mediaType": b.mediaType, "digest": digest, "size": b.size}
	}

	const manifestType = "application/vnd.oci.image.manifest.v1+json"

	manifest, manifestBlob, err := document(manifestType, map[string]any{
		"schemaVersion": 2,
		"mediaType":     manifestType,
		"config":        descriptor(config, configBlob),
		"layers":        []any{descriptor(layer, layerBlob)},
	})

	return manifest, map[string]blob{layer: layerBlob, config: configBlob, manifest: manifestBlob}, err
}

// write writes the layer.
func (i image) write(w io.Writer) error {
	archive := tar.NewWriter(w)
	made := map[string]bool{".": true}

	for _, f := range i {
		if f.folder() {
			if err := writeFolders(archive, f.path, made); err != nil {
				return err
			}

			continue
		}

		if err := writeFolders(archive, path.Dir(f.path), made); err != nil {
			return err
		}

		if err := f.write(archive); err != nil {
			return err
		}
	}

	return archive.Close()
}

// writeFolders adds a folder and those that it is in, once.
func writeFolders(archive *tar.Writer, folder string, made map[string]bool) error {
	if made[folder] {
		return nil
	}

	made[folder] = true

	if err := writeFolders(archive, path.Dir(folder), made); err != nil {
		return err
	}

	return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755})
}

func (f imageFile) write(archive *tar.Writer) error {
	if f.link != "" {
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: f.path, Linkname: f.link, Mode: 0o777})
	}

	if f.text != "" {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: 0o644, Size: int64(len(f.text))})
		if err != nil {
			return err
		}

		_, err = io.WriteString(archive, f.text)

		return err
	}

	file, err := os.Open(f.file)
	if err != nil {
		return err
	}
	defer file.Close()

	info, err := file.Stat()
	if err != nil {
		return err
	}

	err = archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: 0o755, Size: info.Size()})
	if err != nil {
		return err
	}

	_, err = io.Copy(archive, file)

	return err
}

// document makes a blob of a value.
func document(mediaType string, value any) (string, blob, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", blob{}, err
	}

	return digest(mediaType, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}

// digest finds a blob's digest and size.
func digest(mediaType string, write func(io.Writer) error) (string, blob, error) {
	hash, size := sha256.New(), counter(0)

	if err := write(io.MultiWriter(hash, &size)); err != nil {
		return "", blob{}, err
	}

	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), blob{mediaType: mediaType, size: int64(size), write: write}, nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(data []byte) (int, error) {
	*c += counter(len(data))
	return len(data), nil
}
