package adopt

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Names say of servers, by their names, which pool they are in, and which index they
// have there.
type Names map[string]Place

// Place is a place in a pool.
type Place struct {
	Pool  string
	Index int
}

// ParseNames reads a file of lines such as db-server: worker/3.
func ParseNames(file string, data []byte) (Names, error) {
	var lines map[string]string
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&lines); err != nil && !errors.Is(err, io.EOF) {
		return nil, diag.New(diag.Pos{File: file}, "cannot be read as a list of servers: %v", err).
			WithHint("lines such as db-server: worker/3").WithCode(diag.Usage)
	}
	names, first := Names{}, map[Place]string{}
	var problems diag.List
	for server, text := range lines {
		pool, number, _ := strings.Cut(text, "/")
		index, err := strconv.Atoi(number)
		place := Place{pool, index}
		switch {
		case err != nil || index < 1 || index > maxIndex || !isLabel(pool):
			problems.Add(diag.New(diag.Pos{File: file}, "%s: %q is not POOL/INDEX", server, text).WithHint("such as worker/3").WithCode(diag.Usage))
		case first[place] != "":
			one, other := min(server, first[place]), max(server, first[place])
			problems.Add(diag.New(diag.Pos{File: file}, "%s and %s have one place, %s", one, other, text).WithCode(diag.Usage))
		}
		first[place] = server
		names[server] = place
	}
	return names, problems.Err()
}

// maxIndex is the highest index of a node.
const maxIndex = 9999

// isLabel reports whether a text can be the name of a pool or a node.
func isLabel(text string) bool {
	if text == "" || len(text) > 63 || strings.Trim(text, "-") != text {
		return false
	}
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// split divides the name of a server into what its pool is called, and the index.
func split(name, cluster string) (pool string, index int) {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return "", 0
	}
	index, err := strconv.Atoi(name[dash+1:])
	if err != nil || index < 1 || index > maxIndex || strconv.Itoa(index) != name[dash+1:] {
		return "", 0
	}
	pool = name[:dash]
	if short, has := strings.CutPrefix(pool, cluster+"-"); has {
		pool = short
	}
	if !isLabel(pool) {
		return "", 0
	}
	return pool, index
}
