package sopsage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/getsops/sops/v3"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Block is the sops block of a rendered file.
type Block struct {
	// Start and End are the block's place in the file: without these bytes it
	// is the file before [File.Block] was added.
	Start, End int

	lastModified, mac, regex, dataRegex, macOnly, version string

	skeleton string // the text without the MAC: equal for all files of a data key
	node     *yaml.Node
}

// ParseBlock finds and parses the sops block in the first document of a file
// that render wrote. It expects talosgen's layout (a block of its own at the
// left margin), not every form that YAML allows. Without a block it returns nil
// and no error: the file holds no secret.
func ParseBlock(file string, data []byte) (*Block, error) {
	b := &Block{}
	var ok bool
	if b.Start, b.End, ok = findBlock(data); !ok {
		return nil, nil
	}
	problem := func(err error) error {
		line := 1 + bytes.Count(data[:b.Start], []byte("\n"))
		return diag.New(diag.Pos{File: file, Line: line}, "the sops block cannot be read: %s", err).
			WithHint("rendered files are never edited: run `talosgen render`, or restore the file from Git").
			WithCode(diag.Secrets)
	}
	text := data[b.Start:b.End]
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, problem(errors.New("it is not valid YAML"))
	}
	if err := b.read(&doc); err != nil {
		return nil, problem(err)
	}
	b.skeleton = strings.Replace(string(text), b.mac, "", 1)
	return b, nil
}

// findBlock returns the bytes from a line "sops:" at the left margin of the
// first document to the next line that is not indented.
func findBlock(data []byte) (start, end int, ok bool) {
	pos := 0
	for line := range bytes.Lines(data) {
		text := bytes.TrimRight(line, "\r\n")
		switch {
		case ok && len(text) > 0 && text[0] != ' ':
			return start, pos, true
		case ok:
		case string(text) == "sops:":
			start, ok = pos, true
		case pos > 0 && isDocumentMarker(text):
			return 0, 0, false
		}
		pos += len(line)
	}
	return start, pos, ok
}

func isDocumentMarker(line []byte) bool {
	s := string(line)
	return s == "---" || s == "..." || strings.HasPrefix(s, "--- ")
}

// read takes the fields out of a parsed block.
func (b *Block) read(doc *yaml.Node) error {
	if len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 || doc.Content[0].Content[1].Kind != yaml.MappingNode {
		return errors.New("it is not a mapping")
	}
	b.node = doc.Content[0].Content[1]
	fields := map[string]*string{
		"lastmodified": &b.lastModified, "mac": &b.mac, "version": &b.version,
		"encrypted_comment_regex": &b.regex, "encrypted_regex": &b.dataRegex, "mac_only_encrypted": &b.macOnly,
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(b.node.Content); i += 2 {
		name, value := b.node.Content[i].Value, b.node.Content[i+1]
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		if field, known := fields[name]; known && value.Kind == yaml.ScalarNode {
			*field = value.Value
		} else if !keyFields[name] {
			return fmt.Errorf("%q is not something that render writes", name)
		}
	}
	return nil
}

// checkRules reports a rule of the block that differs from what [File.Block]
// writes: with another rule, sops would see other leaves as encrypted than
// talosgen does.
func (b *Block) checkRules() error {
	marked := b.regex == commentRegex && b.dataRegex == ""
	manifest := b.regex == "" && b.dataRegex == dataRegex
	switch {
	case !marked && !manifest:
		return errors.New("its rule is not the one that tells which values are secret")
	case b.macOnly != "true":
		return errors.New("mac_only_encrypted is missing")
	}
	return nil
}

// metadata gives the block's wrapped keys to SOPS' library.
func (b *Block) metadata() (sops.Metadata, error) {
	tree, err := nodeTree(b.node)
	if err != nil {
		return sops.Metadata{}, err
	}
	branch, _ := tree.(sops.TreeBranch)
	return treeMetadata(branch)
}

// Recipients returns who can read the file.
func (b *Block) Recipients() (Recipients, error) {
	md, err := b.metadata()
	if err != nil {
		return Recipients{}, err
	}
	return Recipients{groups: md.KeyGroups, threshold: md.ShamirThreshold}, nil
}

// BlockKey unwraps the data key of a rendered file's block. All files of a data
// key have the same block but for its MAC; only the first of them costs an
// unwrapping.
func (k *Keys) BlockKey(ctx context.Context, file string, b *Block) (*DataKey, error) {
	return k.cachedKey(b.skeleton, func() (*DataKey, error) {
		md, err := b.metadata()
		if err != nil {
			return nil, diag.New(diag.Pos{File: file}, "the sops block cannot be read").
				WithCode(diag.Secrets).WithCause(err)
		}
		return k.unwrap(ctx, file, md)
	})
}
