package sopsage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/getsops/sops/v3"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Whole gives the rule for a file of which every value is secret: its recipients
// and layout are those of .sops.yaml, what it says of the values that are
// encrypted is not followed. Whoever can change .sops.yaml could otherwise have
// the next command that encrypts write secrets in the clear.
func (r *Rule) Whole() *Rule {
	whole := *r
	whole.whole = true
	return &whole
}

// encryptAll makes metadata that choose every value. The suffix is SOPS' own
// default, without which it does not store metadata; [refuseSuffix] keeps it out
// of the names.
func encryptAll(md sops.Metadata) sops.Metadata {
	return choose(md, sops.Metadata{UnencryptedSuffix: sops.DefaultUnencryptedSuffix})
}

// choose gives metadata the choice of values, and of what the MAC covers, that
// other metadata make.
func choose(md, by sops.Metadata) sops.Metadata {
	md.UnencryptedSuffix, md.EncryptedSuffix = by.UnencryptedSuffix, by.EncryptedSuffix
	md.UnencryptedRegex, md.EncryptedRegex = by.UnencryptedRegex, by.EncryptedRegex
	md.UnencryptedCommentRegex, md.EncryptedCommentRegex = by.UnencryptedCommentRegex, by.EncryptedCommentRegex
	md.MACOnlyEncrypted = by.MACOnlyEncrypted
	return md
}

// choosesAll reports whether metadata make the choice of [encryptAll].
func choosesAll(md sops.Metadata) bool {
	return md.UnencryptedSuffix == sops.DefaultUnencryptedSuffix &&
		md.EncryptedSuffix+md.UnencryptedRegex+md.EncryptedRegex+md.UnencryptedCommentRegex+md.EncryptedCommentRegex == "" &&
		!md.MACOnlyEncrypted
}

// refuseSuffix refuses names below which SOPS would leave values readable.
func refuseSuffix(file string, value any) error {
	var problems diag.List
	walkKeys(value, func(key string) {
		if strings.HasSuffix(key, sops.DefaultUnencryptedSuffix) {
			problems.Add(diag.New(diag.Pos{File: file}, "the name %q would leave its value in the clear", key).
				WithHint("sops does not encrypt what a name with the suffix %s has: give it another name", sops.DefaultUnencryptedSuffix).
				WithCode(diag.Secrets))
		}
	})
	return problems.Err()
}

// walkKeys visits every key of a tree.
func walkKeys(value any, visit func(key string)) {
	switch value := value.(type) {
	case sops.TreeBranches:
		for _, branch := range value {
			walkKeys(branch, visit)
		}
	case sops.TreeBranch:
		for _, item := range value {
			if key, ok := item.Key.(string); ok {
				visit(key)
			}
			walkKeys(item.Value, visit)
		}
	case []any:
		for _, item := range value {
			walkKeys(item, visit)
		}
	}
}

// CheckWhole refuses an encrypted file in which a value stands in the clear, for
// files of which all values are secret: it names the first, and counts the rest.
// It needs no key. The name of the file chooses the format, as in [Encrypt]. That
// the values that look encrypted are so, decrypting the file shows.
func CheckWhole(file string, data []byte) error {
	found, err := clearDotenv(file, data), error(nil)
	if !isDotenv(file) {
		found, err = clearYAML(file, data)
	}
	if err != nil || len(found) == 0 {
		return err
	}
	what := found[0].name + " stands"
	if more := len(found) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more stand", found[0].name, more)
	}
	return diag.New(found[0].pos, "%s in the clear in an encrypted file", what).
		WithHint("every value of this file is secret, whatever .sops.yaml says: `talosgen secrets rekey` encrypts all; " +
			"what was ever committed in the clear is known: replace it").
		WithCode(diag.Secrets)
}

// clearValue is a value that is not encrypted.
type clearValue struct {
	name string
	pos  diag.Pos
}

func clearYAML(file string, data []byte) (found []clearValue, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, unreadable(file, err)
		}
		for _, root := range doc.Content {
			found = append(found, clearLeaves(file, root, nil)...)
		}
	}
}

// clearLeaves finds the scalars below a node that are not encrypted. SOPS leaves
// nulls and empty texts as they are.
func clearLeaves(file string, node *yaml.Node, path []string) []clearValue {
	var found []clearValue
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if len(path) == 0 && key.Value == "sops" && value.Kind == yaml.MappingNode {
				continue
			}
			found = append(found, clearLeaves(file, value, append(path[:len(path):len(path)], key.Value))...)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			found = append(found, clearLeaves(file, item, path)...)
		}
	case yaml.ScalarNode:
		if node.Value != "" && node.ShortTag() != "!!null" && !IsEncryptedValue(node.Value) {
			found = append(found, clearValue{pathString(path), diag.Pos{File: file, Line: node.Line, Column: node.Column}})
		}
	}
	return found
}

func clearDotenv(file string, data []byte) []clearValue {
	var found []clearValue
	number := 0
	for line := range bytes.Lines(data) {
		number++
		name, value, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), "=")
		if ok && value != "" && !strings.HasPrefix(name, "sops_") && !strings.HasPrefix(name, "#") && !IsEncryptedValue(value) {
			found = append(found, clearValue{name, diag.Pos{File: file, Line: number}})
		}
	}
	return found
}
