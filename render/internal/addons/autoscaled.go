package addons

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
)

// CheckUserData makes sure that the autoscaler can give a new server its
// configuration: it hands it over as user data, compressed, which Talos takes
// since 1.9.
func CheckUserData(n model.Node, cfg *machine.Config) error {
	var text bytes.Buffer
	for i, d := range cfg.Documents() {
		if i > 0 {
			text.WriteString("---\n")
		}
		doc, err := d.Text()
		if err != nil {
			return err
		}
		text.Write(doc)
	}
	packed, err := catalogue.UserData(text.Bytes())
	if err != nil || len(packed) <= catalogue.MaxUserData {
		return err
	}
	return diag.New(n.Pos("name"), "the configuration of the servers of pool %s has %d bytes as user data, compressed; Hetzner takes %d", n.Pool, len(packed), catalogue.MaxUserData).
		WithHint("keep large files, manifests and certificates out of what workers get, or give the pool a count of nodes instead of the autoscaler")
}

// configText is a machine configuration as Talos reads it; unless real is set
// with other secrets.
func configText(cfg *machine.Config, real bool, others leak.Others) (string, error) {
	var b strings.Builder
	for i, d := range cfg.Documents() {
		if i > 0 {
			b.WriteString("---\n")
		}
		text, err := d.Text()
		if err != nil {
			return "", err
		}
		if real {
			b.Write(text)
			continue
		}
		leaves, err := d.Leaves()
		if err != nil {
			return "", err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return "", err
		}
		written := 0
		for j := range leaves {
			if l := &leaves[j]; isSecret[j] {
				b.Write(text[written:l.ValueStart])
				b.WriteString(strconv.Quote(others.Of(l.Value)) + "\n")
				written = l.End
			}
		}
		b.Write(text[written:])
	}
	return b.String(), nil
}
