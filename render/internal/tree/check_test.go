package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

func TestDigestFiles(t *testing.T) {
	root := t.TempDir()
	big := strings.Repeat("0123456789", 20_000) // more than the buffer holds at first
	putFile(t, root, "envs/dev/cluster.env", "A=1\n")
	putFile(t, root, "big", big)
	putFile(t, root, "empty", "")
	putFile(t, root, "exact", big[:64<<10])
	if err := os.Symlink("empty", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	got, err := DigestFiles(root, []string{"envs/dev/cluster.env", "big", "empty", "exact", "link"})
	want := []rendered.Entry{
		{Path: "envs/dev/cluster.env", Digest: rendered.Digest([]byte("A=1\n"))},
		{Path: "big", Digest: rendered.Digest([]byte(big))},
		{Path: "empty", Digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "exact", Digest: rendered.Digest([]byte(big[:64<<10]))},
		{Path: "link", Digest: rendered.Digest(nil)},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}

	_, err = DigestFiles(root, []string{"absent", "envs", "big"})
	want2 := "absent: cannot be read: no such file or directory\nenvs: cannot be read: is a directory\n2 problems"
	if err == nil || err.Error() != want2 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v, want %s", err, want2)
	}
	if _, err = DigestFiles(filepath.Join(root, "absent"), nil); diag.CodeOf(err) != diag.Input {
		t.Errorf("without a root the error is %v", err)
	}
}

func TestCheck(t *testing.T) {
	entry := func(path, data string) rendered.Entry {
		return rendered.Entry{Path: path, Digest: rendered.Digest([]byte(data))}
	}
	inputs := []rendered.Entry{entry("b", "1"), entry("d", "1"), entry("f", "1")}
	outputs := map[string]string{"infra.yaml": "i", "nodes/a.yaml": "a", "nodes/b.yaml": "b"}
	in := func(path string, kind Kind) Difference { return Difference{path, kind, false} }
	out := func(path string, kind Kind) Difference { return Difference{path, kind, true} }
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
	}
	for name, tt := range map[string]struct {
		inputs []rendered.Entry
		touch  func(dir string) error
		want   []Difference
	}{
		"current": {},
		"own files are ignored": {touch: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "nodes/README"), nil, 0o644)
		}},
		"unsorted inputs":  {inputs: []rendered.Entry{inputs[2], inputs[0], inputs[1]}},
		"input changed":    {inputs: []rendered.Entry{inputs[0], entry("d", "2"), inputs[2]}, want: []Difference{in("d", Changed)}},
		"input first":      {inputs: append([]rendered.Entry{entry("a", "")}, inputs...), want: []Difference{in("a", Added)}},
		"input last":       {inputs: append(inputs[:3:3], entry("g", "")), want: []Difference{in("g", Added)}},
		"input renamed":    {inputs: []rendered.Entry{inputs[0], entry("e", "1"), inputs[2]}, want: []Difference{in("d", Removed), in("e", Added)}},
		"input first gone": {inputs: inputs[1:], want: []Difference{in("b", Removed)}},
		"input last gone":  {inputs: inputs[:2], want: []Difference{in("f", Removed)}},
		"output edited": {touch: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "nodes/a.yaml"), []byte("A"), 0o644)
		}, want: []Difference{out("nodes/a.yaml", Changed)}},
		"output longer": {touch: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "nodes/a.yaml"), []byte("aa"), 0o644)
		}, want: []Difference{out("nodes/a.yaml", Changed)}},
		"output gone":    {touch: remove("nodes/b.yaml"), want: []Difference{out("nodes/b.yaml", Removed)}},
		"directory gone": {touch: remove("nodes"), want: []Difference{out("nodes/a.yaml", Removed), out("nodes/b.yaml", Removed)}},
		"all gone":       {touch: remove(""), want: []Difference{out("infra.yaml", Removed), out("nodes/a.yaml", Removed), out("nodes/b.yaml", Removed)}},
		"output is a link to the same": {touch: func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "infra.yaml"), filepath.Join(dir, "x")), os.Symlink("x", filepath.Join(dir, "infra.yaml")))
		}, want: []Difference{out("infra.yaml", Changed)}},
		"output is a directory": {touch: func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "infra.yaml")), os.Mkdir(filepath.Join(dir, "infra.yaml"), 0o755))
		}, want: []Difference{out("infra.yaml", Changed)}},
		"output is a FIFO": {touch: func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "infra.yaml")), oddFile(filepath.Join(dir, "infra.yaml")))
		}, want: []Difference{out("infra.yaml", Changed)}},
		"directory is a file": {touch: func(dir string) error {
			return errors.Join(remove("nodes")(dir), os.WriteFile(filepath.Join(dir, "nodes"), nil, 0o644))
		}, want: []Difference{out("nodes/a.yaml", Removed), out("nodes/b.yaml", Removed)}},
		"both": {inputs: inputs[:2], touch: remove("nodes/a.yaml"), want: []Difference{in("f", Removed), out("nodes/a.yaml", Removed)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dev")
			var locked []rendered.Entry
			for path, data := range outputs {
				putFile(t, dir, path, data)
				locked = append(locked, entry(path, data))
			}
			lock, err := rendered.NewLock(rendered.Origin{Talosgen: "0.1.0", Environment: "dev", Cluster: "dev"}, inputs, locked)
			if err != nil {
				t.Fatal(err)
			}
			now := inputs
			if tt.inputs != nil {
				now = tt.inputs
			}
			if tt.touch != nil {
				if err := tt.touch(dir); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Check(lock, now, dir)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

func TestReadLockTellsAbsence(t *testing.T) {
	if _, err := ReadLock(t.TempDir(), "0.1.0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}
