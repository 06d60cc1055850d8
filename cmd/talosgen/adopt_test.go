package main

import (
	"bytes"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/importer"
)

// TestAdoptNext: what is marked comes before the commands, and what they find is not
// foretold.
func TestAdoptNext(t *testing.T) {
	const commands = "next: talosgen render home\nnext: talosgen plan home\n"
	const edit = "next: edit what is marked with EDIT in envs/home/cluster.yaml\n"
	for _, c := range []struct {
		report importer.Report
		want   string
	}{
		{importer.Report{Written: true}, commands},
		{importer.Report{Written: true, Marked: "envs/home/cluster.yaml"}, commands}, // a note of the import says it
		{importer.Report{}, commands},
		{importer.Report{Marked: "envs/home/cluster.yaml"}, edit + commands},
	} {
		c.report.Env = "home"
		var out bytes.Buffer
		a := adoptCommand{importCommand: importCommand{out: &console{stdout: &out, stderr: &out, masker: secret.NewMasker()}}}
		a.next(&c.report, nil)
		if out.String() != c.want {
			t.Errorf("got %s\nwant %s", out.String(), c.want)
		}
	}
}
