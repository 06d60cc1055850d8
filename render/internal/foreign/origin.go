// Package foreign reads what people have who configure Talos without talosgen: the
// final configurations of their machines, and what goes with them.
package foreign

import (
	"encoding/base64"
	"io/fs"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Origin is what was read.
type Origin struct {
	Machines []Machine
	// Secrets are the values that were encrypted there.
	Secrets []secret.String
	// Encrypted are variables that were encrypted there: their values must not be in the
	// clear anywhere.
	Encrypted []EncryptedVariable
	// Notes are what was passed over, and what else the user should know.
	Notes []string
	// Talos is the version that the machines run, if they were asked.
	Talos string
	// Target says what the configurations are that an import has to equal.
	Target string
	// Copies are patches that have a place in an environment, in the order in which they
	// apply.
	Copies []Copy
	// Env is the text of cluster.env, if there is one, without what is secret in it.
	Env []byte
	// Hetzner says which servers of Hetzner Cloud the machines are; nil: they exist, and
	// that is all that is known.
	Hetzner *Hetzner
	// Variables are the secret ones, with the names that patches call them by.
	Variables map[string]secret.String
}

// Encrypts reports whether a value holds one that was encrypted in the source, as it is
// or in base64. cluster.yaml, which takes no secrets, is not to have it where a patch can.
func (o *Origin) Encrypts(text string) bool {
	texts := []string{text}
	for _, word := range inBase64.FindAllString(text, -1) {
		if plain, err := base64.RawStdEncoding.DecodeString(word); err == nil {
			texts = append(texts, string(plain))
		}
	}
	return slices.ContainsFunc(o.Secrets, func(s secret.String) bool {
		return s.Recognisable() && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s.Reveal()) })
	})
}

// inBase64 is a word that may be something else in base64.
var inBase64 = regexp.MustCompile(`[A-Za-z0-9+/]{8,}`)

// Hetzner are the options of a cluster that was found in Hetzner Cloud.
type Hetzner struct {
	Options []Option // pools apart
	Pools   []ServerPool
}

// Option is an option of cluster.yaml: its path, or its key in a pool.
type Option struct {
	Path  string
	Value any
}

// ServerPool is a pool with its options, and the names of its nodes.
type ServerPool struct {
	Name         string
	ControlPlane bool
	Nodes        []string
	Options      []Option
}

// Place puts machines into the pools that their servers are in.
func (o *Origin) Place(h *Hetzner) {
	o.Hetzner = h
	for i := range o.Machines {
		for _, p := range h.Pools {
			if slices.Contains(p.Nodes, o.Machines[i].Name) {
				o.Machines[i].Pool = p.Name
			}
		}
	}
}

// Copy is a file that may be taken over as it is, with its comments.
type Copy struct {
	From, To string // To is a path in the environment
	Data     []byte
}

// Machine is a machine with its final configuration.
type Machine struct {
	Name, Role, Pool string
	File             string // that the configuration is from
	Config           *machine.Config
	Text             secret.String // of the configuration, in the clear
	// Parts are what the schematic of its image consists of, if that is known.
	Parts Parts
	// MAC is the address of its network card, if the configuration names one.
	MAC string
	// UUID and Serial are those of its SMBIOS data, if the machine was asked.
	UUID, Serial string
	// Address is where the machine is, if that is known.
	Address string
}

// Match is what the machine is known by; nil if nothing is known.
func (m Machine) Match() map[string]string {
	switch {
	case m.MAC != "":
		return map[string]string{"mac": m.MAC}
	case m.UUID != "":
		return map[string]string{"uuid": m.UUID}
	case m.Serial != "":
		return map[string]string{"serial": m.Serial}
	}
	return nil
}

// Source is a folder that is read, and what that takes.
type Source struct {
	Files fs.FS
	// Decrypt decrypts a file that is encrypted with SOPS.
	Decrypt func(file string, data []byte) ([]byte, error)
	// Mask is told every secret that is found.
	Mask func(...secret.String)
	// Nodes are the files of nodes that are named by hand.
	Nodes []NodeFile
	// Env is the name of the environment, where a folder has several.
	Env string
}

// NodeFile names the configuration of a node, and its address if that is known.
type NodeFile struct{ Name, File, Address string }

// ParseNode reads a node as NAME=FILE or NAME=FILE@ADDRESS.
func ParseNode(text string) (NodeFile, bool) {
	name, file, found := strings.Cut(text, "=")
	n := NodeFile{Name: name, File: file}
	if at := strings.LastIndexByte(file, '@'); at >= 0 {
		if ip, err := netip.ParseAddr(file[at+1:]); err == nil {
			n.File, n.Address = file[:at], ip.String()
		}
	}
	return n, found && n.Name != "" && n.File != ""
}
