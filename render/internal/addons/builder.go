package addons

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/model"
)

// builder makes the objects of addons, one after the other.
type builder struct {
	in      Input
	ctx     context.Context
	model   *model.Model
	texts   *cleartext.Texts
	secrets secrets
	folders folders
	reader  reader

	warnings diag.List
	apis     []string // what the addons made so far define
}

func newBuilder(ctx context.Context, in Input) *builder {
	b := &builder{in: in, ctx: ctx, model: in.Model, texts: in.Texts, secrets: secrets{in, in.Model}}
	b.folders = folders{in.Model, in.Texts, in.Broken}
	b.reader = reader{b.folders, b.secrets.others()}
	return b
}

// files makes the objects of all addons, and lays them out.
func (b *builder) files() ([]gitops.File, error) {
	if err := b.folders.check(&b.warnings); err != nil {
		return nil, err
	}
	made, err := b.all()
	if err != nil {
		return nil, err
	}
	b.warnings.Add(undefined(b.model.Config, made))
	b.warnings.Add(roleNamespaces(b.model.Config, made)...)
	b.warnings.Add(withoutCertificate(b.model.Config, made)...)
	b.warnings.Add(defaultClasses(b.model.Config, made))
	problems, warnings := b.unmetObjects(made)
	b.warnings.Add(warnings...)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	settings, err := b.in.gitops()
	if err != nil {
		return nil, err
	}
	var arranged []gitops.Addon
	for _, m := range made {
		if catalogue.IsEngine(m.addon.Name, settings.Engine) {
			settings.Components = m.objects
			continue
		}
		arranged = append(arranged, gitops.Addon{
			Name: m.addon.Name, Layer: m.addon.Layer, DependsOn: m.addon.DependsOn, Namespace: m.addon.Namespace,
			PodSecurity: m.addon.PodSecurity, Origin: m.addon.Origin, Objects: m.objects, Keep: m.addon.Keep, Applied: m.addon.Applied,
		})
	}
	files, err := gitops.Arrange(arranged, settings)
	if component, there := b.component(b.secrets.real()); there {
		files = append(files, component)
	}
	return files, err
}

// madeAddon is an addon with its objects.
type madeAddon struct {
	addon   catalogue.Addon
	objects []manifest.Object
}

// all makes the objects of all addons twice, with the secrets and with others,
// and makes sure that secrets are in Secrets only.
func (b *builder) all() ([]madeAddon, error) {
	v, other := b.secrets.real(), b.secrets.other()
	if err := b.secrets.addAutoscaled(v, other); err != nil {
		return nil, err
	}
	all, err := allAddons(b.secrets.facts(v))
	if err != nil {
		return nil, err
	}
	others, err := allAddons(b.secrets.facts(other))
	if err != nil {
		return nil, err // a rule that looks at secrets: what it says is about no real one
	}
	if len(all) != len(others) {
		return nil, diag.On("environment "+b.model.Env, "which addons it has depends on a secret").WithCode(diag.Secrets)
	}
	b.warnings.Add(b.folders.unusedLinks(all)...)
	inOrder, err := inStartOrder(all)
	if err != nil {
		return nil, err
	}
	var made []madeAddon
	var problems diag.List
	for _, i := range inOrder {
		a := all[i]
		if broken := b.folders.brokenLinks(a); len(broken) > 0 {
			problems.Add(broken...)
			continue
		}
		if p := b.folders.checkSource(a); p != nil {
			problems.Add(p)
			continue
		}
		for _, w := range a.Warnings {
			b.warnings.Add(diag.New(b.model.Config.Near(a.Origin), "addon %s: %s", a.Name, w))
		}
		objects, err := b.checkedObjects(a, others[i], v, other)
		problems.AddErr(err)
		problems.AddErr(checkNames(a, objects))
		if errors.Is(err, ErrAbandoned) {
			break
		}
		made = append(made, madeAddon{a, objects})
		b.apis = append(b.apis, apisOf(objects)...)
	}
	namespaceAll(made)
	return made, problems.Err()
}

// namespaceAll puts custom resources into the namespace of their addon that need
// one, have none, and whose definition is another addon's.
func namespaceAll(made []madeAddon) {
	var definitions []manifest.Object
	for _, m := range made {
		for _, o := range m.objects {
			if o.IsDefinition() {
				definitions = append(definitions, o)
			}
		}
	}
	scopes := manifest.NewScopes(definitions...)
	for _, m := range made {
		scopes.SetNamespace(cmp.Or(m.addon.Namespace, "default"), m.objects)
	}
}

// checkNames refuses objects whose names Kubernetes would refuse, because they
// would lead elsewhere in paths: in those of its API, and of the files of a tree.
func checkNames(a catalogue.Addon, objects []manifest.Object) error {
	var problems diag.List
	for _, o := range objects {
		for _, name := range []string{o.Name(), o.Namespace()} {
			if printable.Line(name) != name || strings.ContainsAny(name, "/%") || name == "." || name == ".." {
				problems.Add(diag.On(o.ID().String(), "Kubernetes has no objects of such a name (addon %s)", a.Name).
					WithHint("a name has no /, no %%, and no characters that cannot be printed"))
			}
		}
	}
	return problems.Err()
}

// inStartOrder are the places of addons in the order in which they come up: what one
// defines, charts of later ones may ask for.
func inStartOrder(all []catalogue.Addon) ([]int, error) {
	var addons []gitops.Addon
	at := map[string]int{}
	for i, a := range all {
		addons = append(addons, gitops.Addon{Name: a.Name, Layer: a.Layer, DependsOn: a.DependsOn, Origin: a.Origin})
		at[a.Name] = i
	}
	names, err := gitops.Order(addons)
	var places []int
	for _, name := range names {
		places = append(places, at[name])
	}
	return places, err
}

// apisOf are the APIs that definitions of custom resources add, as charts ask for
// them.
func apisOf(objects []manifest.Object) (apis []string) {
	for _, o := range objects {
		if !o.IsDefinition() {
			continue
		}
		group := manifest.Text(manifest.Section(o, "spec")["group"])
		kind := manifest.Text(manifest.Section(o, "spec", "names")["kind"])
		for _, v := range manifest.Maps(manifest.Section(o, "spec")["versions"]) {
			if served, _ := v["served"].(bool); served {
				api := group + "/" + manifest.Text(v["name"])
				apis = append(apis, api, api+"/"+kind)
			}
		}
	}
	return apis
}

// checkedObjects makes the objects of an addon, and again of what it is with
// other secrets if that is something else.
func (b *builder) checkedObjects(a, again catalogue.Addon, v, other *variant) ([]manifest.Object, error) {
	objects, err := b.objects(a, v)
	if err != nil {
		return nil, err
	}
	same, err := b.sameInputs(a, again, v, other)
	if err != nil || same {
		return objects, err
	}
	copy := *b // it warns of nothing that was not warned of
	others, err := copy.objects(again, other)
	switch {
	case errors.Is(err, ErrAbandoned), err != nil && b.ctx.Err() != nil:
		return nil, err // no secret is to blame
	case err != nil:
		return nil, diag.On("addon "+a.Name, "cannot be rendered with other secrets of the same shape, so it is unknown where they end up").
			WithHint("a template that looks at what a secret says is to blame; take the secret out of the values, and make a Secret of your own of it in envs/%s/addons/%s", b.model.Env, a.Name).
			WithCode(diag.Secrets)
	}
	return leak.Check(a.Name, objects, others, b.secrets.keyedChecksum(a.Name))
}

// sameInputs tells whether an addon holds no secret at all.
func (b *builder) sameInputs(a, again catalogue.Addon, v, other *variant) (bool, error) {
	if !reflect.DeepEqual(a, again) {
		return false, nil
	}
	mine, err := b.reader.values(a, v)
	if err != nil {
		return false, err
	}
	theirs, err := b.reader.values(again, other)
	return err == nil && reflect.DeepEqual(mine.merged, theirs.merged) && !b.folders.hasSecrets(a), err
}

// objects makes the objects of an addon: those of its source with the values,
// those of the user, and what a kustomization of the user's makes of them.
func (b *builder) objects(a catalogue.Addon, v *variant) ([]manifest.Object, error) {
	values, err := b.reader.values(a, v)
	if err != nil {
		return nil, err
	}
	engine, err := b.engine(v)
	if err != nil {
		return nil, err
	}
	result, err := engine.Render(b.ctx, a, values.merged)
	if err != nil {
		return nil, err
	}
	for _, w := range result.Warnings {
		pos := values.pos(w.Values)
		if pos.File == "" {
			pos = b.model.Config.Near(a.Origin)
		}
		b.warnings.Add(diag.New(pos, "addon %s: %s", a.Name, w.Message).WithHint("%s", w.Hint))
	}
	return b.customized(a, v, engine, result)
}
