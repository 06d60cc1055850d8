package sopsage

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/getsops/sops/v3"
	sopsaes "github.com/getsops/sops/v3/aes"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/logging"
	"github.com/getsops/sops/v3/stores/dotenv"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// SOPS' library logs to the standard error by itself, and some of its warnings
// quote the file (a comment that does not decrypt). All that matters comes back
// as an error as well, so its loggers are silenced here, once for the process.
func init() {
	for _, logger := range logging.Loggers {
		logger.SetOutput(discard{})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// DecryptYAML decrypts a YAML file, its MAC checked, as `sops -d` does.
func (k *Keys) DecryptYAML(ctx context.Context, file string, data []byte) ([]byte, error) {
	if !IsEncryptedYAML(data) {
		return nil, NotEncrypted(file, data)
	}
	return k.decrypt(ctx, file, data, newYAMLStore(indentOf(data)))
}

// DecryptDotenv decrypts a KEY=VALUE file, its MAC checked.
func (k *Keys) DecryptDotenv(ctx context.Context, file string, data []byte) ([]byte, error) {
	if !IsEncryptedDotenv(data) {
		return nil, NotEncrypted(file, data)
	}
	return k.decrypt(ctx, file, data, dotenv.NewStore(&config.DotenvStoreConfig{}))
}

func (k *Keys) decrypt(ctx context.Context, file string, data []byte, store sops.Store) ([]byte, error) {
	opened, err := k.openTree(ctx, file, data, store)
	if err != nil {
		return nil, err
	}
	return opened.plain, nil
}

// storeFor chooses SOPS' store by the name of the file, as sops does.
func storeFor(file string, indent int) sops.Store {
	if isDotenv(file) {
		return dotenv.NewStore(&config.DotenvStoreConfig{})
	}
	return newYAMLStore(indent)
}

// openedTree is a decrypted file, with what it takes to encrypt it again.
type openedTree struct {
	tree   sops.Tree
	key    []byte
	cipher sops.Cipher // remembers the nonces it saw
	plain  []byte
}

// openTree decrypts a file through SOPS' own tree walk.
func (k *Keys) openTree(ctx context.Context, file string, data []byte, store sops.Store) (*openedTree, error) {
	tree, err := store.LoadEncryptedFile(data)
	if errors.Is(err, sops.MetadataNotFound) {
		return nil, diag.New(diag.Pos{File: file}, "the sops block is missing in the first document").
			WithHint("restore the file from Git").WithCode(diag.Secrets)
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	tree.FilePath = file
	key, err := k.plainKey(ctx, file, &tree.Metadata)
	if err != nil {
		return nil, err
	}
	cipher := &tracingCipher{Cipher: sopsaes.NewCipher()}
	computed, err := tree.Decrypt(key, cipher)
	if err != nil {
		return nil, cipher.problem(file, data, err)
	}
	modified := tree.Metadata.LastModified.Format(time.RFC3339)
	stored, err := cipher.Decrypt(tree.Metadata.MessageAuthenticationCode, key, modified)
	if err != nil || stored != computed {
		return nil, tampered(diag.Pos{File: file}, "the file was changed without sops (MAC mismatch)")
	}
	plain, err := store.EmitPlainFile(tree.Branches)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return &openedTree{tree: tree, key: key, cipher: cipher, plain: plain}, nil
}

// tracingCipher is SOPS' cipher; it remembers what it failed on, because the
// library's errors quote values but name no place.
type tracingCipher struct {
	sops.Cipher
	path, text string
}

// Decrypt implements SOPS' cipher.
func (c *tracingCipher) Decrypt(text string, key []byte, aad string) (any, error) {
	value, err := c.Cipher.Decrypt(text, key, aad)
	if err != nil {
		c.path, c.text = strings.ReplaceAll(strings.TrimSuffix(aad, ":"), ":", "."), text
	}
	return value, err
}

func (c *tracingCipher) problem(file string, data []byte, err error) error {
	pos := locate(file, data, c.text)
	switch {
	case c.path == "":
		return unreadable(file, err)
	case !IsEncryptedValue(c.text):
		return tampered(pos, "%s holds plaintext in an encrypted file", c.path)
	default:
		return tampered(pos, "%s was changed after it was encrypted, or moved from another key", c.path)
	}
}

// locate finds the place of a scalar in a file.
func locate(file string, data []byte, text string) diag.Pos {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if decoder.Decode(&doc) != nil {
			return diag.Pos{File: file}
		}
		if node := findScalar(&doc, text); node != nil {
			return diag.Pos{File: file, Line: node.Line, Column: node.Column}
		}
	}
}

func findScalar(node *yaml.Node, text string) *yaml.Node {
	if node.Kind == yaml.ScalarNode && node.Value == text {
		return node
	}
	for _, child := range node.Content {
		if found := findScalar(child, text); found != nil {
			return found
		}
	}
	return nil
}

func tampered(pos diag.Pos, format string, args ...any) *diag.Problem {
	return diag.New(pos, format, args...).
		WithHint("encrypted files are edited with `sops FILE` or `talosgen secrets edit`; " +
			"after a merge, take one side and edit again").
		WithCode(diag.Secrets)
}

// NotEncrypted is the problem of a file that should be encrypted, and for which
// [IsEncryptedYAML] or [IsEncryptedDotenv] says that it is not. One that holds
// encrypted values lost its end, where the sops block is: to encrypt it would
// make ciphertext of ciphertext.
func NotEncrypted(file string, data []byte) *diag.Problem {
	if holdsEncrypted(data) {
		return diag.New(diag.Pos{File: file}, "the file is cut off: it holds encrypted values and has no sops block").
			WithHint("take it from Git again: git restore %s", file).WithCode(diag.Secrets)
	}
	if NamedEncrypted(file) {
		return diag.New(diag.Pos{File: file}, "plaintext in a *.sops.* file").
			WithHint("encrypt it with `sops -e -i %s`; if it was ever committed, its secrets are known: rotate them", file).
			WithCode(diag.Secrets)
	}
	return diag.New(diag.Pos{File: file}, "the file is not encrypted").
		WithHint("encrypt it with `sops -e -i %s`", file).WithCode(diag.Secrets)
}

var yamlLine = regexp.MustCompile(`\bline (\d+)\b`)

// unreadable reports a file that SOPS' library could not parse. Its message is
// dropped but for the line: it may quote a value.
func unreadable(file string, err error) *diag.Problem {
	pos := diag.Pos{File: file}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		pos.Line, _ = strconv.Atoi(m[1])
	}
	return diag.New(pos, "the file cannot be read as SOPS reads it").
		WithHint("it must be YAML mappings with string keys, each key once, or KEY=VALUE lines in a .env file; " +
			"`sops -d FILE` shows the details").
		WithCode(diag.Secrets)
}

// indentOf guesses the indentation with which a file was written, so that
// writing it again keeps its lines: SOPS' own is 4, .sops.yaml can change it.
func indentOf(data []byte) int {
	_, block, ok := bytes.Cut(data, []byte("\nsops:\n"))
	if !ok {
		return 0
	}
	return len(block) - len(bytes.TrimLeft(block, " "))
}
