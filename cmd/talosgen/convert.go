package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/convert"
)

// Places of patches: files, or folders of files.
const (
	commonPatches       = "common"
	controlPlanePatches = "controlplane"
)

// convertCommand rewrites patches for the documents of Talos 1.14.
type convertCommand struct {
	cwd func() (string, error)
	out *console
}

func (v convertCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "convert-patch",
		Usage:     "rewrite patches for the documents of Talos 1.14",
		ArgsUsage: "<file>...",
		Description: `Talos 1.14 keeps most of machine: and cluster: in documents of their own, and
rejects a patch that sets the old field beside the new document. The command
prints each patch with its fields moved to the new documents. Fields without a
new document are reported and unchanged. Documents for control planes only go
from a patch in common/ to one of the same name in controlplane/.

Examples:
   talosgen convert-patch patches/common/kubelet.yaml
   talosgen convert-patch --write patches/common/*.yaml`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "write", Aliases: []string{"w"}, Usage: "rewrite the files in place"},
			&cli.BoolFlag{Name: "all", Usage: "also convert deprecated fields that Talos still accepts"},
			&cli.StringFlag{Name: "role", Usage: "`ROLE` of the patch: controlplane, worker or all; default: from its path"},
		},
		Action: v.run,
	}
}

func (v convertCommand) run(c *cli.Context) error {
	if c.NArg() == 0 {
		return diag.On("", "which patches?").WithHint("talosgen convert-patch <file>...").WithCode(diag.Usage)
	}
	var problems diag.List
	for i, file := range c.Args().Slice() {
		problems.AddErr(v.convert(c, file, i == 0))
	}
	return problems.Err()
}

// convert converts one patch. Printed, each but the first starts a document
// of its own.
func (v convertCommand) convert(c *cli.Context, file string, first bool) error {
	info, err := os.Stat(file)
	if err != nil {
		return unreadable(file, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return unreadable(file, err)
	}
	workers, err := v.reachesWorkers(c.String("role"), file)
	if err != nil {
		return err
	}
	controlPlanes := controlPlanesFile(file)
	out, remarks, err := convert.Patch(file, data, convert.Options{Workers: workers, Split: controlPlanes != "", All: c.Bool("all")})
	if err != nil {
		return err
	}
	v.out.printWarnings(remarks)
	if c.Bool("write") {
		return v.write(file, controlPlanes, out, info.Mode()&fs.ModePerm)
	}
	text := out.Text
	if len(out.ControlPlanes) > 0 {
		text = slices.Concat(text, []byte("---\n# "+controlPlanes+"\n"), out.ControlPlanes)
	}
	if !first && !bytes.HasPrefix(text, []byte("---")) {
		text = append([]byte("---\n"), text...)
	}
	return v.out.printData(text)
}

// write rewrites a patch, and writes the one for control planes first: an error leaves
// what was there.
func (v convertCommand) write(file, controlPlanes string, out convert.Converted, mode fs.FileMode) error {
	save := func(file string, data []byte) (bool, error) {
		written, err := atomicfile.Write(file, data, mode)
		if err != nil {
			err = diag.New(diag.Pos{File: file}, "cannot be written: %v", err).WithCause(err)
		}
		return written, err
	}
	if len(out.ControlPlanes) > 0 {
		if err := os.MkdirAll(filepath.Dir(controlPlanes), 0o755); err != nil {
			return diag.New(diag.Pos{File: controlPlanes}, "cannot be written: %v", err).WithCause(err)
		}
		if _, err := save(controlPlanes, out.ControlPlanes); err != nil {
			return err
		}
		v.out.say("wrote %s: documents for control planes only", controlPlanes)
	}
	if len(out.Text) == 0 {
		if err := os.Remove(file); err != nil {
			return diag.New(diag.Pos{File: file}, "cannot be removed: %v", err).WithCause(err)
		}
		v.out.say("removed %s: nothing is left in it", file)
		return nil
	}
	written, err := save(file, out.Text)
	if err != nil {
		return err
	}
	if written {
		v.out.say("rewrote %s", file)
	} else {
		v.out.say("%s: nothing to convert", file)
	}
	return nil
}

// controlPlanesFile is where documents of a patch for all nodes go that workers do not take:
// the place for control planes beside it. It is empty if there is no such place, or a
// file is there already.
func controlPlanesFile(file string) string {
	dir, name := filepath.Split(file)
	controlPlanes := ""
	if base := filepath.Base(dir); base == commonPatches {
		controlPlanes = filepath.Join(filepath.Dir(filepath.Clean(dir)), controlPlanePatches, name)
	} else if name == commonPatches+".yaml" {
		controlPlanes = filepath.Join(dir, controlPlanePatches+".yaml")
	}
	if _, err := os.Lstat(controlPlanes); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return controlPlanes
}

// reachesWorkers reports whether a patch applies to workers, by its role or,
// where none is given, by the place that the layers have for it.
func (v convertCommand) reachesWorkers(role, file string) (bool, error) {
	switch role {
	case "":
		cwd, err := v.cwd()
		if err != nil || filepath.IsAbs(file) {
			cwd = ""
		}
		return !forControlPlanes(filepath.Join(cwd, file)), nil
	case "controlplane":
		return false, nil
	case "worker", "all":
		return true, nil
	}
	return false, diag.On("", "unknown role %q", role).WithHint("roles: controlplane, worker, all").WithCode(diag.Usage)
}

// forControlPlanes reports whether a patch lies where only control planes have
// theirs: patches/controlplane, or patches/pools/control-plane.
func forControlPlanes(file string) bool {
	for _, name := range strings.Split(filepath.ToSlash(file), "/") {
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".yaml"), ".sops")
		if name == controlPlanePatches || name == "control-plane" {
			return true
		}
	}
	return false
}
