package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/printable"
)

// outputCommand tells scripts addresses, ids and versions of a cluster.
type outputCommand struct{ clusters clusters }

func (o outputCommand) command() *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "print addresses, ids and versions of a cluster, for scripts",
		ArgsUsage: "<env> [name]",
		Description: `Reads rendered/<env>, and addresses and ids from Hetzner Cloud, and changes nothing.
What does not exist yet is left out. A name selects one value; the names of parts
are joined by dots. A value that is no list and no object is printed as it is.

Examples:
   talosgen output prod                          all, a line for each value
   talosgen output prod endpointAddresses        addresses of the API
   talosgen output prod node.prod-worker-1.publicIpv4
   talosgen output prod node -o json             the nodes, as JSON`,
		Flags:  sessionFlags(append(nodeFlags(), outputFlag())...),
		Action: o.run,
	}
}

func (o outputCommand) run(c *cli.Context) error {
	env, err := o.clusters.ws.environment(c, "[name]")
	if err != nil {
		return err
	}
	if err := c.Set(flagAllowDirty, "true"); err != nil { // the tree is read as it is
		return err
	}
	return o.clusters.useOf(c, env, func(s *session) error {
		outputs, err := s.Outputs(c.Context)
		s.stop()
		if err != nil {
			return err
		}
		value, err := plainValue(outputs)
		if err != nil {
			return err
		}
		if value, err = selected(value, c.Args().Get(1)); err != nil {
			return err
		}
		text, err := valueText(value, c.String(flagOutput))
		if err != nil {
			return err
		}
		return s.out.printData(text)
	})
}

// plainValue is a value as JSON has it: maps, lists, texts and numbers.
func plainValue(v any) (plain any, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&plain)
	return plain, err
}

// selected is the part of a value that a name selects; all of it without a name.
func selected(value any, name string) (any, error) {
	if name == "" {
		return value, nil
	}
	for at, rest := "", name; rest != ""; {
		var key string
		key, rest, _ = strings.Cut(rest, ".")
		object, _ := value.(map[string]any)
		next, found := object[key]
		if !found {
			names := slices.SortedFunc(maps.Keys(object), natural.Compare)
			for i := range names {
				names[i] = at + names[i]
			}
			return nil, diag.On(name, "there is no such output").WithHint("%s", diag.Suggest(at+key, names)).WithCode(diag.Usage)
		}
		value, at = next, at+key+"."
	}
	return value, nil
}

// valueText is a value in a format.
func valueText(value any, format string) ([]byte, error) {
	if format == textFormat {
		var b strings.Builder
		writeValues(&b, "", value)
		return []byte(printable.Text(b.String())), nil
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil || format == jsonFormat {
		return printable.JSON(append(text, '\n')), err
	}
	text, err = yamlOf(text)
	return []byte(printable.Text(string(text))), err
}

// writeValues writes a line for each value: its name and itself; of a value without a
// name itself alone.
func writeValues(b *strings.Builder, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.SortedFunc(maps.Keys(v), natural.Compare) {
			writeValues(b, strings.TrimPrefix(name+"."+key, "."), v[key])
		}
	case []any:
		for _, inner := range v {
			writeValues(b, name, inner)
		}
	default:
		if name != "" {
			fmt.Fprintf(b, "%s = ", name)
		}
		fmt.Fprintf(b, "%v\n", v)
	}
}
