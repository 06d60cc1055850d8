package sopsage

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Encode prints the keyring. Equal keyrings give equal bytes.
func (k *Keyring) Encode() ([]byte, error) {
	entries := sops.TreeBranch{}
	for _, domain := range domains {
		e, ok := k.entries[domain]
		if !ok {
			continue
		}
		tree, err := metadataTree(e.wrapped)
		if err != nil {
			return nil, err
		}
		fields := sops.TreeBranch{
			{Key: "created", Value: e.wrapped.LastModified.UTC().Format(time.RFC3339)},
			{Key: "seal", Value: sealText(e.seal)},
		}
		entries = append(entries, sops.TreeItem{Key: string(domain), Value: append(fields, keyTree(tree)...)})
	}
	return emitTree(sops.TreeBranch{
		{Key: sops.Comment{Value: " The data keys of this environment, wrapped for their recipients. Safe to commit."}},
		{Key: sops.Comment{Value: " Written by `talosgen secrets`; do not edit."}},
		{Key: "version", Value: k.version},
		{Key: "domains", Value: entries},
	})
}

// ParseKeyring reads a keyring. It reports all problems of the file at once.
func ParseKeyring(file string, data []byte) (*Keyring, error) {
	p := keyringParser{file: file}
	k := &Keyring{file: file, entries: map[Domain]entry{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) != 1 {
		return nil, p.problem(nil, "not a YAML document")
	}
	root := p.fields(doc.Content[0], "version", "domains")
	switch version := root["version"]; {
	case version != nil && version.Value == strconv.Itoa(firstKeyring):
		k.version = firstKeyring
	case version != nil && version.Value == strconv.Itoa(keyringVersion):
		k.version = keyringVersion
	default:
		p.add(version, "unknown version of the keyring; this talosgen knows versions %d and %d", firstKeyring, keyringVersion)
	}
	if root["domains"] == nil {
		p.add(doc.Content[0], "\"domains\" is missing")
		return nil, p.problems.Err()
	}
	for name, node := range p.fields(root["domains"], string(Operator), string(Cluster)) {
		k.entries[Domain(name)] = p.entry(node)
	}
	for _, domain := range domains {
		if _, ok := k.entries[domain]; !ok {
			p.add(root["domains"], "the domain %q is missing", domain)
		}
	}
	if err := p.problems.Err(); err != nil {
		return nil, err
	}
	return k, nil
}

// keyringParser collects the problems of a keyring.
type keyringParser struct {
	file     string
	problems diag.List
}

func (p *keyringParser) problem(node *yaml.Node, format string, args ...any) *diag.Problem {
	pos := diag.Pos{File: p.file}
	if node != nil {
		pos.Line, pos.Column = node.Line, node.Column
	}
	return diag.New(pos, format, args...).
		WithHint("the keyring is written by `talosgen secrets`: restore it from Git").WithCode(diag.Secrets)
}

func (p *keyringParser) add(node *yaml.Node, format string, args ...any) {
	p.problems.Add(p.problem(node, format, args...))
}

// fields returns the values of a mapping that may have the given keys only.
func (p *keyringParser) fields(node *yaml.Node, known ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if node.Kind != yaml.MappingNode {
		p.add(node, "expected a mapping")
		return values
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			p.add(key, "unknown key %q; known are %s", key.Value, strings.Join(known, ", "))
		case values[key.Value] != nil:
			p.add(key, "%q is there twice", key.Value)
		default:
			values[key.Value] = node.Content[i+1]
		}
	}
	return values
}

// entry reads one domain.
func (p *keyringParser) entry(node *yaml.Node) entry {
	known := []string{"created", "seal"}
	for name := range keyFields {
		known = append(known, name)
	}
	slices.Sort(known[2:])
	fields := p.fields(node, known...)
	created, seal := fields["created"], fields["seal"]
	var e entry
	if created == nil || seal == nil {
		p.add(node, "\"created\" or \"seal\" is missing")
		return e
	}
	at, err := time.Parse(time.RFC3339, created.Value)
	if err != nil || at.UTC().Format(time.RFC3339) != created.Value {
		p.add(created, "expected a time in UTC such as 2026-01-31T12:00:00Z")
		return e
	}
	if e.seal, err = base64.StdEncoding.Strict().DecodeString(seal.Value); err != nil || len(e.seal) != sha256.Size {
		p.add(seal, "not a seal")
	}
	if e.wrapped, err = wrappedKeys(node, at); err != nil {
		p.add(node, "the wrapped keys cannot be read")
	}
	return e
}

// wrappedKeys reads the entries of a mapping that hold wrapped keys.
func wrappedKeys(node *yaml.Node, created time.Time) (sops.Metadata, error) {
	tree, err := nodeTree(node)
	if err != nil {
		return sops.Metadata{}, err
	}
	branch, ok := tree.(sops.TreeBranch)
	if !ok {
		return sops.Metadata{}, errors.New("not a mapping")
	}
	return keyMetadata(branch, created)
}
