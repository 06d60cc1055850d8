package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/secret"
)

// File is where a cluster that was observed is kept. What is in it is encrypted for the
// operators of its environment: there are configurations and Secrets in it.
type File struct {
	// The name, for messages.
	Name string
	// Is read in the place of a cluster, if it is not nil; else what was read of the
	// cluster is written to To, unless that is nil.
	From io.Reader
	To   io.Writer
}

// format is that of what is kept, in the clear.
const format = 1

// kept is an observed cluster in a file, with its secrets.
type kept struct {
	Format   int
	Observed Observed
	Configs  map[string]string // by node
	HostKey  string
}

// Encode writes what was observed, in the clear: to something that encrypts it.
func (o *Observed) Encode(to io.Writer) error {
	k := kept{Format: format, Observed: *o, Configs: map[string]string{}, HostKey: o.HostKey.Reveal()}
	for _, n := range o.Nodes {
		k.Configs[n.Name] = n.Config.Reveal()
	}
	return json.NewEncoder(to).Encode(k)
}

// Decode reads what [Observed.Encode] has written. Its errors quote nothing of it.
func Decode(from io.Reader) (*Observed, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	var k kept
	if json.Unmarshal(text, &k) != nil || k.Format == 0 {
		return nil, fmt.Errorf("it is no cluster that was observed")
	}
	if k.Format != format {
		return nil, fmt.Errorf("its format %d is newer than this program", k.Format)
	}
	o := k.Observed
	o.HostKey = secret.New(k.HostKey)
	for i := range o.Nodes {
		o.Nodes[i].Config = secret.New(k.Configs[o.Nodes[i].Name])
	}
	for i, object := range o.Objects {
		if o.Objects[i], err = numbers(object); err != nil {
			return nil, fmt.Errorf("it has an object that cannot be read")
		}
	}
	return &o, nil
}

// numbers makes whole numbers of an object int64, as the API gives them.
func numbers(o manifest.Object) (manifest.Object, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fresh map[string]any
	if err := decoder.Decode(&fresh); err != nil {
		return nil, err
	}
	whole, _ := wholeNumbers(fresh).(map[string]any)
	return whole, nil
}

func wholeNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = wholeNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return value
}
