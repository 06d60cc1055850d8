package treecheck

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// findElsewhere finds the Kustomizations of Flux that apply from another repository: what
// their paths lead to is not known here.
//
// This repository is the source that most paths lead to a directory through. Another
// source is another repository if it has another URL, or none of its paths leads anywhere.
func (c *checker) findElsewhere() {
	here, urls := map[manifest.ID]int{}, map[manifest.ID]string{}
	most := 0
	for _, o := range c.objects {
		if id := o.ID(); id.Group == "source.toolkit.fluxcd.io" {
			urls[sourceID(id.Kind, id.Namespace, id.Name)] = o.Text("spec", "url")
		}
		if k, is := kustomizationOf(o.Object); is {
			if o.IsFluxInstance() {
				urls[sourceOf(k)] = o.Text("spec", "sync", "url")
			}
			if c.isDirectory(path.Clean(strings.TrimPrefix(k.Text("spec", "path"), "/"))) {
				here[sourceOf(k)]++
			}
			most = max(most, here[sourceOf(k)])
		}
	}
	ours := map[string]bool{}
	for source, n := range here {
		if n == most && urls[source] != "" {
			ours[urls[source]] = true
		}
	}
	c.noteUnwritten(here, most, urls)
	for _, o := range c.objects {
		k, is := kustomizationOf(o.Object)
		source := sourceOf(k)
		if is && source.Name != "" && here[source] < most && !ours[urls[source]] && (here[source] == 0 || urls[source] != "") {
			c.elsewhere[o.ID()] = true
			c.notes = append(c.notes, fmt.Sprintf("%s applies from %s, which is another repository: what it brings was not looked at", o.ID(), source))
		}
	}
}

// noteUnwritten notes the source that most paths lead to a directory through, if it is not
// written down: Terraform has made it, or a chart. A name that stands in one place only may
// be mistyped.
func (c *checker) noteUnwritten(here map[manifest.ID]int, most int, urls map[manifest.ID]string) {
	var first []manifest.ID
	for source, n := range here {
		if n == most {
			first = append(first, source)
		}
	}
	if len(first) != 1 || first[0].Name == "" || most < 2 || c.in.Rendered {
		return
	}
	if _, written := urls[first[0]]; written {
		return
	}
	c.unwritten = first
	c.notes = append(c.notes, fmt.Sprintf("%s is not in %s: what applies from it is taken to apply from this repository", first[0], c.in.Dir))
}

// noteSeveral notes that several files have a Kustomization of one name: no cluster has both.
func (c *checker) noteSeveral() {
	in := map[manifest.ID]string{}
	for _, o := range c.objects {
		if _, is := kustomizationOf(o.Object); !is || c.in.Rendered {
			continue
		}
		if other, taken := in[o.ID()]; taken && other != o.Pos.File {
			c.notes = append(c.notes, fmt.Sprintf("%s is in %s and in %s: if %s has several clusters, check the directory of each", o.ID(), other, o.Pos.File, c.in.Dir))
			return
		}
		in[o.ID()] = o.Pos.File
	}
}

// kustomizationOf is a Kustomization of Flux, or the one that is made of a FluxInstance.
func kustomizationOf(o manifest.Object) (k manifest.Object, is bool) {
	if k = o.Synced(); k != nil {
		return k, true
	}
	return o, o.ID().Group == "kustomize.toolkit.fluxcd.io" && o.Kind() == "Kustomization"
}

// sourceOf is where a Kustomization applies from.
func sourceOf(k manifest.Object) manifest.ID {
	return sourceID(k.Text("spec", "sourceRef", "kind"), cmp.Or(k.Text("spec", "sourceRef", "namespace"), k.Namespace()), k.Text("spec", "sourceRef", "name"))
}

// sourceID names a source of Flux without its group, which references leave out.
func sourceID(kind, namespace, name string) manifest.ID {
	return manifest.ID{Kind: kind, Namespace: namespace, Name: name}
}

// givenLater tells whether Flux puts in a field of an object, or a part of it, when it
// applies it: ${NAME} stands there. A rendered tree has no such fields.
func (c *checker) givenLater(o manifest.Located, field string) bool {
	pos := o.At(field)
	return !c.in.Rendered && strings.Contains(c.files.line(pos.File, pos.Line), "${")
}
