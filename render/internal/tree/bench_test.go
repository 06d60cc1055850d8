package tree

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rendered"
)

// BenchmarkWrite1000 writes trees of 1000 files of 8 KiB, as a cluster of 1000
// nodes has them.
func BenchmarkWrite1000(b *testing.B) {
	for _, changed := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "rendered", "prod")
			trees := [2][]File{benchFiles(0, 0), benchFiles(changed, 1)}
			locks := [2]*rendered.Lock{lockOf(b, "1.0.0", trees[0]), lockOf(b, "1.0.0", trees[1])}
			if _, err := Write(dir, trees[1], locks[1]); err != nil {
				b.Fatal(err)
			}
			i := 0
			for b.Loop() {
				if _, err := Write(dir, trees[i%2], locks[i%2]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func benchFiles(changed, version int) []File {
	body := strings.Repeat("machine: configuration\n", 8192/23)
	var files []File
	for i := range 1000 {
		v := version
		if i >= changed {
			v = 0
		}
		files = append(files, File{fmt.Sprintf("nodes/prod-worker-%04d.yaml", i), []byte(fmt.Sprint(i, v, body))})
	}
	return files
}

// BenchmarkCheck4000 checks 4000 inputs and outputs of 8 KiB, as a cluster of
// 1000 nodes has; the lock is read and parsed each time.
func BenchmarkCheck4000(b *testing.B) {
	root := b.TempDir()
	dir := filepath.Join(root, "rendered/prod")
	body := strings.Repeat("machine: configuration\n", 8192/23)
	var inputs, outputs []rendered.Entry
	var paths []string
	for i := range 2000 {
		data := fmt.Sprint(i, body)
		in, out := fmt.Sprintf("envs/prod/patches/nodes/n%04d/p.yaml", i), fmt.Sprintf("nodes/n%04d.yaml", i)
		putFile(b, root, in, data)
		putFile(b, dir, out, data)
		paths = append(paths, in)
		inputs = append(inputs, rendered.Entry{Path: in, Digest: rendered.Digest([]byte(data))})
		outputs = append(outputs, rendered.Entry{Path: out, Digest: rendered.Digest([]byte(data))})
	}
	lock, err := rendered.NewLock(rendered.Origin{Talosgen: "0.1.0", Environment: "dev", Cluster: "dev"}, inputs, outputs)
	if err != nil {
		b.Fatal(err)
	}
	lock.Seal = lock.ComputeSeal(nil)
	putFile(b, dir, rendered.LockName, string(lock.Encode()))
	for b.Loop() {
		lock, err := ReadLock(dir, "0.1.0")
		if err != nil {
			b.Fatal(err)
		}
		now, err := DigestFiles(root, paths)
		if err != nil {
			b.Fatal(err)
		}
		differences, err := Check(lock, now, dir)
		if err != nil || len(differences) > 0 {
			b.Fatal(differences, err)
		}
	}
}
