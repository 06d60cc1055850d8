package sopsage

import (
	"bytes"
	"io"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// IsEncryptedYAML reports whether a YAML file carries a sops block, in whatever
// document. It says nothing about whether the block is sound: a file that looks
// encrypted must decrypt, or it is an error.
func IsEncryptedYAML(data []byte) bool {
	if !bytes.Contains(data, []byte("sops")) {
		return false // nearly every file, at the cost of one scan
	}
	if blockOfMapping(data) && !rootScalar(data) {
		return true // what SOPS and talosgen write
	}
	return parsedBlock(data)
}

// parsedBlock is [IsEncryptedYAML] for any way to write it.
func parsedBlock(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if err == io.EOF {
			return false
		}
		if err != nil { // no YAML: then the line decides
			return bytes.HasPrefix(data, []byte("sops:")) || bytes.Contains(data, []byte("\nsops:"))
		}
		if len(doc.Content) == 1 && hasBlock(doc.Content[0]) {
			return true
		}
	}
}

// blockOfMapping reports whether a file has the block as SOPS writes it: a key of the
// root with keys below. A line that begins so is no part of a text in a mapping, as that
// is indented; of a text that is a document by itself, for which [rootScalar] looks, it
// can be one.
func blockOfMapping(data []byte) bool {
	const head = "sops:\n"
	for rest := data; ; {
		at := bytes.Index(rest, []byte(head))
		if at < 0 {
			return false
		}
		begins := at == 0 || rest[at-1] == '\n'
		rest = rest[at+len(head):]
		if begins && keyBelow(rest) {
			return true
		}
	}
}

// keyBelow reports whether a text begins with a key that is indented.
func keyBelow(text []byte) bool {
	key := bytes.TrimLeft(text, " ")
	after := bytes.TrimLeft(key, "abcdefghijklmnopqrstuvwxyz_")
	return len(key) < len(text) && len(after) < len(key) && (bytes.HasPrefix(after, []byte(": ")) || bytes.HasPrefix(after, []byte(":\n")))
}

// rootScalar reports whether a document could be a text, or something in brackets.
func rootScalar(data []byte) bool {
	for line := range bytes.Lines(data) {
		if rest, marker := bytes.CutPrefix(line, []byte("---")); marker {
			line = bytes.TrimLeft(rest, " ")
		}
		if len(line) > 0 && strings.IndexByte("\"'|>{[!&", line[0]) >= 0 {
			return true
		}
	}
	return false
}

func hasBlock(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "sops" && root.Content[i+1].Kind == yaml.MappingNode {
			return true
		}
	}
	return false
}

// IsEncryptedDotenv reports whether a KEY=VALUE file carries SOPS metadata.
func IsEncryptedDotenv(data []byte) bool {
	return bytes.HasPrefix(data, []byte("sops_")) || bytes.Contains(data, []byte("\nsops_"))
}

// encryptedLine is the beginning of a value or comment that SOPS encrypted.
var encryptedLine = regexp.MustCompile(`(?m)(^|[:=#\[,-])[ \t]*["']?ENC\[AES256_GCM,`)

// holdsEncrypted reports whether a value of a file was encrypted by SOPS.
func holdsEncrypted(data []byte) bool { return encryptedLine.Match(data) }

// NamedEncrypted reports whether a file's name promises that it is encrypted:
// "secrets.sops.yaml", "cluster.sops.env".
func NamedEncrypted(file string) bool {
	base := path.Base(file)
	return strings.HasSuffix(strings.TrimSuffix(base, path.Ext(base)), ".sops") && !strings.HasPrefix(base, ".sops.")
}

func isDotenv(file string) bool { return path.Ext(file) == ".env" }
