package tree

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkWrite1000 writes trees of 1000 files of 8 KiB, as a cluster of 1000
// nodes has them.
func BenchmarkWrite1000(b *testing.B) {
	for _, changed := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "rendered", "prod")
			trees := [2][]File{benchFiles(0, 0), benchFiles(changed, 1)}
			locks := [2]*Lock{lockOf(b, "1.0.0", trees[0]), lockOf(b, "1.0.0", trees[1])}
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
