package graph

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/render/internal/gitops"
)

// kubernetes draws what runs in the cluster: what talosgen keeps, then the
// repository that Flux or Argo CD watches, then its steps in their order.
func (b *builder) kubernetes() error {
	counted, err := b.countObjects()
	if err != nil {
		return err
	}
	objects, err := b.fluxObjects()
	if err != nil {
		return err
	}
	g := Group{Title: "in the cluster"}
	if cards := addonCards(counted, gitops.BootstrapDir); len(cards) > 0 {
		g.Rows = append(g.Rows, Row{ID: gitops.BootstrapDir, Title: "bootstrap", Subtitle: "kept by talosgen", Cards: cards})
	}
	var repositories []Card
	for _, o := range objects {
		if kind := o.Kind(); kind == "GitRepository" || kind == "OCIRepository" {
			repositories = append(repositories, repository(o))
		}
	}
	if len(repositories) > 0 {
		g.Rows = append(g.Rows, Row{ID: gitops.FluxDir, Title: "Flux", Subtitle: "keeps what follows", Cards: repositories})
	}
	root, applications, err := b.argoObjects()
	if err != nil {
		return err
	}
	place := followed.Of(b.in.Dir, slices.Concat(objects, root))
	steps := stepsOf(objects, place)
	if len(root) > 0 {
		g.Rows = append(g.Rows, Row{ID: gitops.ArgoDir, Title: "Argo CD", Subtitle: "keeps what follows", Cards: []Card{argoRepository(root[0])}})
		steps = argoSteps(applications, place)
	}
	for _, s := range steps {
		g.Rows = append(g.Rows, Row{ID: s.id(), Title: s.name, Subtitle: s.waits(), Cards: addonCards(counted, path.Join(gitops.AddonsDir, s.name))})
	}
	b.order(g.Rows, steps)
	if len(g.Rows) > 0 {
		b.picture.Groups = append(b.picture.Groups, g)
	}
	return nil
}

// order draws which row comes after which: steps after those that they wait
// for, and one that waits for none after the repository.
func (b *builder) order(rows []Row, steps []step) {
	add := func(from, to string) {
		is := func(id string) bool { return slices.ContainsFunc(rows, func(r Row) bool { return r.ID == id }) }
		if is(from) && is(to) {
			b.picture.Arrows = append(b.picture.Arrows, Arrow{from, to})
		}
	}
	for _, engine := range []string{gitops.FluxDir, gitops.ArgoDir} {
		add(gitops.BootstrapDir, engine)
		for _, s := range steps {
			if len(s.after) == 0 {
				add(engine, s.id())
			}
		}
	}
	for _, s := range steps {
		for _, before := range s.after {
			add(step{name: before}.id(), s.id())
		}
	}
}

// countObjects counts the objects of each addon, by the directory of the addon.
func (b *builder) countObjects() (map[string]int, error) {
	counted := map[string]int{}
	var problems diag.List
	for _, name := range slices.Sorted(maps.Keys(b.in.Files)) {
		top, _, _ := strings.Cut(name, "/")
		if top != gitops.BootstrapDir && top != gitops.AddonsDir || path.Base(name) == "kustomization.yaml" || path.Ext(name) != ".yaml" {
			continue
		}
		objects, err := manifest.Parse(b.file(name), b.in.Files[name])
		problems.AddErr(err)
		counted[addonOf(name)] += len(objects)
	}
	return counted, problems.Err()
}

// addonOf is the addon that a file belongs to: bootstrap/<addon>/…,
// addons/<step>/<addon>/…, and addons/crds/<addon>.yaml.
func addonOf(name string) string {
	parts := strings.Split(name, "/")
	depth := 2
	if parts[0] == gitops.AddonsDir {
		depth = 3
	}
	return strings.TrimSuffix(strings.Join(parts[:min(depth, len(parts))], "/"), ".yaml")
}

// addonCards are the addons in a directory, by name.
func addonCards(counted map[string]int, dir string) (cards []Card) {
	for _, addon := range slices.Sorted(maps.Keys(counted)) {
		if path.Dir(addon) == dir {
			cards = append(cards, Card{ID: "addon/" + addon, Kind: Addon, Title: path.Base(addon), Lines: []Line{{Left: natural.Count(counted[addon], "object")}}})
		}
	}
	return cards
}

func (b *builder) file(name string) string { return path.Join(b.in.Dir, name) }

// fluxObjects are the objects that make Flux do its work, but not Flux itself.
func (b *builder) fluxObjects() ([]manifest.Object, error) {
	name := path.Join(gitops.FluxDir, "manifests.yaml")
	data, ok := b.in.Files[name]
	if !ok {
		return nil, nil
	}
	return manifest.Parse(b.file(name), data)
}

func repository(o manifest.Object) Card {
	url := strings.TrimSuffix(bare(o.Text("spec", "url")), ".git")
	if _, host, hasUser := strings.Cut(url, "@"); hasUser {
		url = host
	}
	c := Card{ID: "repository/" + o.Name(), Kind: Repository, Title: path.Base(url), Lines: []Line{{Left: url}}}
	for _, ref := range []string{"branch", "tag", "semver", "digest"} {
		if text := o.Text("spec", "ref", ref); text != "" {
			c.Lines = append(c.Lines, Line{ref, text})
		}
	}
	return c
}

// step is a Kustomization of Flux for a directory of addons.
type step struct {
	name  string   // of the directory
	after []string // the steps that it waits for
}

func (s step) id() string { return "step/" + s.name }

func (s step) waits() string {
	if len(s.after) == 0 {
		return ""
	}
	return "after " + strings.Join(s.after, ", ")
}

// stepOf is the step whose directory is at a path in the repository that is followed;
// empty if it is none.
func stepOf(at string, place followed.Tree) string {
	below, _ := place.Below(at)
	if dir, name := path.Split(below); dir == gitops.AddonsDir+"/" {
		return name
	}
	return ""
}

// stepsOf are the steps among objects of Flux, each after those that it waits for.
func stepsOf(objects []manifest.Object, place followed.Tree) (steps []step) {
	directory := map[string]string{} // by the name of the Kustomization
	waiting := map[string][]string{}
	for _, o := range objects {
		name := stepOf(o.Text("spec", "path"), place)
		if o.Kind() != "Kustomization" || name == "" {
			continue
		}
		directory[o.Name()] = name
		for _, d := range manifest.Maps(o.Value("spec", "dependsOn")) {
			waiting[o.Name()] = append(waiting[o.Name()], manifest.Text(d["name"]))
		}
	}
	left := slices.Sorted(maps.Keys(directory))
	for len(left) > 0 {
		ready := func(name string) bool {
			return !slices.ContainsFunc(waiting[name], func(before string) bool { return slices.Contains(left, before) })
		}
		// In a circle, which Flux never runs, the first one comes first.
		next := left[max(0, slices.IndexFunc(left, ready))]
		s := step{name: directory[next]}
		for _, before := range waiting[next] {
			if dir, ok := directory[before]; ok {
				s.after = append(s.after, dir)
			}
		}
		steps = append(steps, s)
		left = slices.DeleteFunc(left, func(name string) bool { return name == next })
	}
	return steps
}
