package sopsage

import (
	"fmt"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/stores"
	sopsyaml "github.com/getsops/sops/v3/stores/yaml"
	"go.yaml.in/yaml/v4"
)

// SOPSVersion is the version that is written into every block: the one of the
// linked library, so that an older sops program knows that it may be too old.
const SOPSVersion = "3.13.3"

// commentRegex selects the encrypted leaves. SOPS hands it a comment without
// its hash sign, so " secret" is what it sees of "# secret".
const commentRegex = "^ secret$"

// dataRegex selects the encrypted leaves of a Kubernetes Secret: everything
// below keys of these names. Comments would not do: Flux decrypts what
// kustomize made of the file, and comments do not survive that.
const dataRegex = "^(data|stringData)$"

// keyFields are the entries of SOPS metadata that hold wrapped keys, as opposed
// to dates, rules and the MAC.
var keyFields = map[string]bool{
	"age": true, "azure_kv": true, "gcp_kms": true, "hc_vault": true, "hckms": true,
	"key_groups": true, "kms": true, "pgp": true, "shamir_threshold": true,
}

// metadataTree gives metadata in the form in which SOPS stores it.
func metadataTree(md sops.Metadata) (sops.TreeBranch, error) {
	branches, err := stores.SerializeMetadata(
		sops.Tree{Branches: sops.TreeBranches{{}}, Metadata: md}, stores.MetadataOpts{})
	if err != nil {
		return nil, err
	}
	block, ok := branches[0][0].Value.(sops.TreeBranch)
	if !ok {
		return nil, fmt.Errorf("unexpected form of SOPS metadata: %T", branches[0][0].Value)
	}
	return block, nil
}

// treeMetadata is the reverse of [metadataTree].
func treeMetadata(block sops.TreeBranch) (sops.Metadata, error) {
	branches := sops.TreeBranches{{{Key: stores.SopsMetadataKey, Value: block}}}
	_, md, err := stores.ExtractMetadata(branches, stores.MetadataOpts{})
	return md, err
}

// keyTree keeps only the entries of a metadata tree that hold wrapped keys.
func keyTree(block sops.TreeBranch) sops.TreeBranch {
	kept := sops.TreeBranch{}
	for _, item := range block {
		if name, ok := item.Key.(string); ok && keyFields[name] {
			kept = append(kept, item)
		}
	}
	return kept
}

// keyMetadata turns wrapped keys into metadata with the date at which they were
// wrapped.
func keyMetadata(keys sops.TreeBranch, created time.Time) (sops.Metadata, error) {
	block := append(keyTree(keys),
		sops.TreeItem{Key: "lastmodified", Value: created.Format(time.RFC3339)},
		sops.TreeItem{Key: "encrypted_comment_regex", Value: commentRegex},
		sops.TreeItem{Key: "mac_only_encrypted", Value: true},
		sops.TreeItem{Key: "version", Value: SOPSVersion})
	return treeMetadata(block)
}

// setCreated writes a date over every created_at below value. SOPS' library
// reads the clock for it; here the date is the caller's.
func setCreated(value any, created time.Time) {
	switch value := value.(type) {
	case sops.TreeBranch:
		for i, item := range value {
			if item.Key == "created_at" {
				value[i].Value = created.UTC().Format(time.RFC3339)
				continue
			}
			setCreated(item.Value, created)
		}
	case []any:
		for _, item := range value {
			setCreated(item, created)
		}
	}
}

// emitTree prints a tree as SOPS prints YAML, with its indentation of 4.
func emitTree(branch sops.TreeBranch) ([]byte, error) {
	return newYAMLStore(0).EmitPlainFile(sops.TreeBranches{branch})
}

// yamlStore is SOPS' YAML store, which prints in less time.
type yamlStore struct {
	*sopsyaml.Store
	indent int
}

// newYAMLStore returns a store; indent 0 is SOPS' default, 4.
func newYAMLStore(indent int) yamlStore {
	return yamlStore{sopsyaml.NewStore(&config.YAMLStoreConfig{Indent: indent}), indent}
}

// EmitPlainFile prints decrypted documents.
func (s yamlStore) EmitPlainFile(branches sops.TreeBranches) ([]byte, error) {
	return emitYAML(branches, s.indent)
}

// nodeTree turns parsed YAML into SOPS' form of it.
func nodeTree(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		branch := sops.TreeBranch{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			value, err := nodeTree(node.Content[i+1])
			if err != nil {
				return nil, err
			}
			branch = append(branch, sops.TreeItem{Key: node.Content[i].Value, Value: value})
		}
		return branch, nil
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range node.Content {
			value, err := nodeTree(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.ScalarNode:
		if node.ShortTag() == "!!null" {
			return nil, nil
		}
		return node.Value, nil // SOPS' decoder converts numbers and booleans itself
	default:
		return nil, fmt.Errorf("line %d: aliases are not supported here", node.Line)
	}
}

// skeleton is the text of a sops block around its MAC, which is all that
// differs between the files of one data key.
type skeleton struct {
	before, after string
	lastModified  string
}

// macLine is how a block's line of the MAC starts.
const macLine = "\n    mac: "

// newSkeleton prints the block for a data key's metadata, with the rule that
// the metadata have.
func newSkeleton(md sops.Metadata) (skeleton, error) {
	md.MessageAuthenticationCode = "MAC"
	tree, err := metadataTree(md)
	if err != nil {
		return skeleton{}, err
	}
	text, err := emitTree(sops.TreeBranch{{Key: stores.SopsMetadataKey, Value: tree}})
	if err != nil {
		return skeleton{}, err
	}
	before, after, ok := strings.Cut(string(text), macLine+"MAC\n")
	if !ok {
		return skeleton{}, fmt.Errorf("SOPS metadata is printed in an unexpected form")
	}
	return skeleton{
		before:       before + macLine,
		after:        "\n" + after,
		lastModified: md.LastModified.Format(time.RFC3339),
	}, nil
}

// newManifestSkeleton prints the block of a Kubernetes Secret for a data key's
// metadata.
func newManifestSkeleton(md sops.Metadata) (skeleton, error) {
	md.EncryptedCommentRegex, md.EncryptedRegex = "", dataRegex
	return newSkeleton(md)
}
