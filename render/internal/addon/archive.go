package addon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// archiveFiles reads a chart that is an archive.
func archiveFiles(name string, data []byte) ([]*archive.BufferedFile, error) {
	limit := newBudget(name)
	files, err := unpack(data, limit)
	if err != nil {
		return nil, err
	}
	return unpackSubcharts(files, limit)
}

// unpackSubcharts replaces the archives in charts/ by their files, and so on
// for what those hold. Helm would do it too, but with a limit for each archive
// alone, so that archives in archives could unpack to any size.
func unpackSubcharts(files []*archive.BufferedFile, limit *budget) ([]*archive.BufferedFile, error) {
	var all []*archive.BufferedFile
	for _, f := range files {
		dir, base := path.Split(f.Name)
		inCharts := dir == "charts/" || strings.HasSuffix(dir, "/charts/")
		if !inCharts || path.Ext(base) != ".tgz" || strings.IndexAny(base, "_.") == 0 {
			all = append(all, f)
			continue
		}
		inner, err := unpack(f.Data, limit)
		if err != nil {
			return nil, err
		}
		for _, g := range inner {
			g.Name = dir + strings.TrimSuffix(base, ".tgz") + "/" + g.Name
		}
		if inner, err = unpackSubcharts(inner, limit); err != nil {
			return nil, err
		}
		all = append(all, inner...)
	}
	return all, nil
}

// unpack reads the files of an archive, without the directory that all of them
// are in.
func unpack(data []byte, limit *budget) ([]*archive.BufferedFile, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, limit.refuse("is no archive: %v", err).WithHint("a packed chart is a .tgz file, made by `helm package`").WithCause(err)
	}
	var files []*archive.BufferedFile
	for entries := tar.NewReader(zipped); ; {
		head, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, limit.refuse("cannot be unpacked: %v", err).WithCause(err)
		}
		f, err := unpackFile(entries, head, limit)
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, limit.refuse("is an empty archive")
	}
	return files, nil
}

// unpackFile reads one entry; nil for what is no file.
func unpackFile(entries *tar.Reader, head *tar.Header, limit *budget) (*archive.BufferedFile, error) {
	switch head.Typeflag {
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil, nil
	case tar.TypeReg:
	default:
		return nil, limit.refuse("holds %q, which is no plain file", head.Name).WithHint("links and devices in charts are not followed")
	}
	name, err := innerName(head.Name)
	if err != nil {
		return nil, limit.refuse("holds %q: %v", head.Name, err)
	}
	if p := limit.take(head.Size); p != nil {
		return nil, p
	}
	data, err := io.ReadAll(io.LimitReader(entries, head.Size))
	if err != nil {
		return nil, limit.refuse("cannot be unpacked: %v", err).WithCause(err)
	}
	return &archive.BufferedFile{Name: name, Data: trimMark(data)}, nil
}

// innerName takes the first directory off a path in an archive.
func innerName(name string) (string, error) {
	name = strings.TrimPrefix(name, "./")
	if strings.ContainsAny(name, "\\:\x00") || path.IsAbs(name) {
		return "", errors.New("not a path within the chart")
	}
	_, inner, found := strings.Cut(name, "/")
	if !found || inner == "" {
		return "", errors.New("not in the directory of the chart")
	}
	if path.Clean(name) != name || strings.HasPrefix(name, "..") {
		return "", fmt.Errorf("not a path within the chart")
	}
	return inner, nil
}

// trimMark takes off the mark that some editors begin UTF-8 with.
func trimMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) }
