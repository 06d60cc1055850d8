package render

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/encrypt"
	"github.com/talosgen/talosgen/render/internal/envelope"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/source"
)

// leaf is a value of a rendered file.
type leaf = envelope.Leaf

// openFile decrypts a rendered file and verifies that it is as it was written.
func openFile(ctx context.Context, keys *sopsage.Keys, file string, data []byte) ([]leaf, error) {
	block, err := sopsage.ParseBlock(file, data)
	if err != nil {
		return nil, err
	}
	if block == nil {
		leaves, err := envelope.Open(data, -1, -1, sopsage.IsEncryptedValue, noOpener{file})
		return leaves, notReadable(file, err)
	}
	key, err := keys.BlockKey(ctx, file, block)
	if err != nil {
		return nil, err
	}
	reader := key.Open(file)
	leaves, err := envelope.Open(data, block.Start, block.End, sopsage.IsEncryptedValue, encrypt.Opener{Reader: reader})
	if err != nil {
		return nil, notReadable(file, err)
	}
	if err := reader.VerifyMAC(block); err != nil {
		return nil, err
	}
	return leaves, nil
}

func notReadable(file string, err error) error {
	var p *diag.Problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	return diag.New(diag.Pos{File: file}, "cannot be read: %v", err).
		WithHint("rendered files are never edited: run `talosgen render`, or restore the file from Git")
}

// noOpener refuses to decrypt: the file has no sops block.
type noOpener struct{ file string }

func (o noOpener) Decrypt([]string, string) (string, yamltext.Kind, error) {
	return "", 0, diag.New(diag.Pos{File: o.file}, "encrypted values without a sops block").
		WithHint("rendered files are never edited: run `talosgen render`, or restore the file from Git").WithCode(diag.Secrets)
}

// Show returns the committed configuration of a node, or of a group of servers
// that the autoscaler makes. Secret values are masked,
// which needs no keys, or decrypted if reveal is set.
func (r *Repo) Show(ctx context.Context, env, nodeName string, reveal bool) ([]byte, error) {
	if err := r.src.CheckLinks(env); err != nil {
		return nil, err
	}
	name := filepath.ToSlash(filepath.Join(source.RenderedDir, env, model.NodeFile(nodeName)))
	if strings.ContainsAny(nodeName, `/\`) {
		return nil, diag.On(nodeName, "not the name of a node").WithCode(diag.Usage)
	}
	data, err := r.src.Files.ReadInside(name)
	if errors.Is(err, fs.ErrNotExist) {
		group := path.Join(source.RenderedDir, env, model.AutoscaledFile(nodeName))
		if found, second := r.src.Files.ReadInside(group); second == nil {
			name, data, err = group, found, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := r.src.Inputs(env); err != nil {
			return nil, err
		}
		return nil, diag.New(diag.Pos{File: name}, "does not exist").
			WithHint("%s", r.nodeHint(env, nodeName)).WithCode(diag.Usage)
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: name}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	if !reveal {
		return masked(name, data)
	}
	keys, err := r.src.KeysOf(env)
	if err != nil {
		return nil, err
	}
	if !sopsage.IsEncryptedYAML(data) {
		return data, nil
	}
	return keys.DecryptYAML(ctx, name, data)
}

// Outputs lists the files that the last render of an environment wrote, from
// the root of the repository; the lock is the last.
func (r *Repo) Outputs(env string) ([]string, error) {
	lock, err := r.src.ReadLock(env)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, out := range lock.Outputs {
		files = append(files, path.Join(source.RenderedDir, env, out.Path))
	}
	return append(files, path.Join(source.RenderedDir, env, rendered.LockName)), nil
}

// Sources lists the files that the tree of an environment was rendered from, and
// the directories in which such files are.
func (r *Repo) Sources(env string) (files, dirs []string, err error) {
	lock, err := r.src.ReadLock(env)
	if err != nil {
		return nil, nil, err
	}
	dirs = []string{".sops.yaml", "patches", "envs/" + env, source.ChartsDir}
	for _, in := range lock.Inputs {
		files = append(files, in.Path)
		if path.Dir(in.Path) == source.EnvsDir { // a base of cluster.yaml
			dirs = append(dirs, in.Path)
		}
	}
	return files, dirs, nil
}

// RenderedNodes lists the nodes in the rendered tree of an environment.
func (r *Repo) RenderedNodes(env string) ([]string, error) {
	entries, err := r.src.Files.ReadDir(source.RenderedDir + "/" + env + "/nodes")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names, nil
}

// nodeHint says which nodes there are instead.
func (r *Repo) nodeHint(env, nodeName string) string {
	names, err := r.RenderedNodes(env)
	if err != nil {
		return "render the environment first: `talosgen render " + env + "`"
	}
	if s := diag.Suggest(nodeName, names); s != "" {
		return s
	}
	return "nodes: " + strings.Join(names[:min(len(names), 20)], ", ")
}

// masked takes the sops block out of a file and masks the encrypted values.
func masked(file string, data []byte) ([]byte, error) {
	block, err := sopsage.ParseBlock(file, data)
	if err != nil {
		return nil, err
	}
	if block != nil {
		data = append(data[:block.Start:block.Start], data[block.End:]...)
	}
	var out bytes.Buffer
	for i, doc := range yamltext.Split(data) {
		if i > 0 {
			out.WriteString("---\n")
		}
		leaves, err := encryptedLeaves(file, doc)
		if err != nil {
			return nil, err
		}
		written := 0
		for j := range leaves {
			if l := &leaves[j]; isEncrypted(l) {
				out.Write(doc[written:l.ValueStart])
				out.WriteString(secret.Mask + "\n")
				written = l.End
			}
		}
		out.Write(doc[written:])
	}
	return out.Bytes(), nil
}

func isEncrypted(l *yamltext.Leaf) bool { return l.Style == 0 && sopsage.IsEncryptedValue(l.Value) }

// encryptedLeaves reads a document of a rendered file. It refuses one that was
// decrypted in place: sops leaves the mark of encrypted values behind.
func encryptedLeaves(file string, doc []byte) ([]yamltext.Leaf, error) {
	leaves, err := yamltext.Leaves(doc)
	switch {
	case err != nil && bytes.Contains(doc, []byte(envelope.Marker+"\n")):
		return nil, decrypted(file) // sops writes texts in another style than render
	case err != nil:
		return nil, notReadable(file, err)
	}
	for i := range leaves {
		l := &leaves[i]
		line, _, _ := bytes.Cut(doc[l.Start:], []byte("\n"))
		if l.Value != "" && !isEncrypted(l) && bytes.HasSuffix(line, []byte(envelope.Marker)) {
			return nil, decrypted(file)
		}
	}
	return leaves, nil
}

// checkEncrypted refuses a rendered file that was decrypted in place.
func checkEncrypted(file string, data []byte) error {
	for _, doc := range yamltext.Split(data) {
		if _, err := encryptedLeaves(file, doc); err != nil {
			return err
		}
	}
	return nil
}

func decrypted(file string) error {
	return diag.New(diag.Pos{File: file}, "secrets stand in the clear in this file").
		WithHint("it was decrypted in place: run `talosgen render`, or restore the file from Git, and never commit it like this").
		WithCode(diag.Secrets)
}
