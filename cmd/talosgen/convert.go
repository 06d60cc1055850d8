package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/convert"
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
new document are reported and unchanged.

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
	out, remarks, err := convert.Patch(file, data, convert.Options{Workers: workers, All: c.Bool("all")})
	if err != nil {
		return err
	}
	v.out.printWarnings(remarks)
	if !c.Bool("write") {
		if !first && !bytes.HasPrefix(out, []byte("---")) {
			out = append([]byte("---\n"), out...)
		}
		return v.out.printData(out)
	}
	written, err := atomicfile.Write(file, out, info.Mode()&fs.ModePerm)
	if err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", err).WithCause(err)
	}
	if written {
		v.out.say("rewrote %s", file)
	} else {
		v.out.say("%s: nothing to convert", file)
	}
	return nil
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
		if name == "controlplane" || name == "control-plane" {
			return true
		}
	}
	return false
}
