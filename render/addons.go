package render

import (
	"errors"
	"reflect"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/printable"
	"github.com/talosgen/talosgen/render/internal/addon"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// fluxAddon is the addon that is Flux itself. Its objects are beside those that
// make it watch the repository.
const fluxAddon = "flux"

// allAddons are the addons of the catalogue, and Flux itself if it is managed.
func allAddons(f catalogue.Facts) ([]catalogue.Addon, error) {
	all, err := catalogue.Addons(f)
	if err != nil {
		return nil, err
	}
	flux, managed, err := catalogue.Flux(f)
	if managed {
		all = append(all, flux)
	}
	return all, err
}

// ErrAbandoned tells that the templates of a chart run on, because nothing stops
// them: whoever gets it had better end the program.
var ErrAbandoned = addon.ErrAbandoned

// renderAddons makes the objects of all addons, and lays them out.
func (c *compiler) renderAddons(res *Result) error {
	if err := c.checkAddonDirs(); err != nil {
		return err
	}
	made, err := c.addons()
	if err != nil {
		return err
	}
	c.warnUndefined(made)
	settings, err := c.gitops()
	if err != nil {
		return err
	}
	var arranged []gitops.Addon
	for _, m := range made {
		if m.addon.Name == fluxAddon {
			settings.Components = m.objects
			continue
		}
		arranged = append(arranged, gitops.Addon{
			Name: m.addon.Name, Layer: m.addon.Layer, DependsOn: m.addon.DependsOn, Namespace: m.addon.Namespace,
			PodSecurity: m.addon.PodSecurity, Origin: m.addon.Origin, Objects: m.objects, Keep: m.addon.Keep, Applied: m.addon.Applied,
		})
	}
	files, err := gitops.Arrange(arranged, settings)
	if err != nil {
		return err
	}
	return c.writeAddons(files, res)
}

// madeAddon is an addon with its objects.
type madeAddon struct {
	addon   catalogue.Addon
	objects []manifest.Object
}

// addons makes the objects of all addons twice, with the secrets and with others,
// and makes sure that secrets are in Secrets only.
func (c *compiler) addons() ([]madeAddon, error) {
	v, other := c.realVariant(), c.otherVariant()
	if err := c.autoscaledConfigs(v, other); err != nil {
		return nil, err
	}
	all, err := allAddons(c.addonFacts(v))
	if err != nil {
		return nil, err
	}
	others, err := allAddons(c.addonFacts(other))
	if err != nil {
		return nil, err // a rule that looks at secrets: what it says is about no real one
	}
	if len(all) != len(others) {
		return nil, diag.On("environment "+c.Name, "which addons it has depends on a secret").WithCode(diag.Secrets)
	}
	c.warnOfLinks(all)
	inOrder, err := comingUp(all)
	if err != nil {
		return nil, err
	}
	var made []madeAddon
	var problems diag.List
	for _, i := range inOrder {
		a := all[i]
		if broken := c.brokenLinks(a); len(broken) > 0 {
			problems.Add(broken...)
			continue
		}
		if p := c.checkSource(a); p != nil {
			problems.Add(p)
			continue
		}
		for _, w := range a.Warnings {
			c.warnings.Add(diag.New(c.Config.Near(a.Origin), "addon %s: %s", a.Name, w))
		}
		objects, err := c.checkedObjects(a, others[i], v, other)
		problems.AddErr(err)
		problems.AddErr(checkNames(a, objects))
		if errors.Is(err, ErrAbandoned) {
			break
		}
		made = append(made, madeAddon{a, objects})
		c.apis = append(c.apis, apisOf(objects)...)
	}
	return made, problems.Err()
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

// comingUp are the places of addons in the order in which they come up: what one
// defines, charts of later ones may ask for.
func comingUp(all []catalogue.Addon) ([]int, error) {
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
func (c *compiler) checkedObjects(a, b catalogue.Addon, v, other *variant) ([]manifest.Object, error) {
	objects, err := c.objects(a, v)
	if err != nil {
		return nil, err
	}
	same, err := c.sameInputs(a, b, v, other)
	if err != nil || same {
		return objects, err
	}
	quiet := *c // it warns of nothing that was not warned of
	again, err := quiet.objects(b, other)
	switch {
	case errors.Is(err, ErrAbandoned), err != nil && c.ctx.Err() != nil:
		return nil, err // no secret is to blame
	case err != nil:
		return nil, diag.On("addon "+a.Name, "cannot be rendered with other secrets of the same shape, so nobody can tell where they end up").
			WithHint("a template that looks at what a secret says is to blame; take the secret out of the values, and make a Secret of your own of it in envs/%s/addons/%s", c.Name, a.Name).
			WithCode(diag.Secrets)
	}
	return leak.Check(a.Name, objects, again, c.keyedChecksum(a.Name))
}

// sameInputs tells whether an addon holds no secret at all.
func (c *compiler) sameInputs(a, b catalogue.Addon, v, other *variant) (bool, error) {
	if !reflect.DeepEqual(a, b) {
		return false, nil
	}
	mine, err := c.values(a, v)
	if err != nil {
		return false, err
	}
	theirs, err := c.values(b, other)
	return err == nil && reflect.DeepEqual(mine.merged, theirs.merged) && !c.hasSecretFiles(a), err
}

// objects makes the objects of an addon: those of its source with the values,
// those of the user, and what a kustomization of the user's makes of them.
func (c *compiler) objects(a catalogue.Addon, v *variant) ([]manifest.Object, error) {
	values, err := c.values(a, v)
	if err != nil {
		return nil, err
	}
	engine, err := c.engine(v)
	if err != nil {
		return nil, err
	}
	result, err := engine.Render(c.ctx, a, values.merged)
	if err != nil {
		return nil, err
	}
	for _, w := range result.Warnings {
		pos := values.pos(w.Values)
		if pos.File == "" {
			pos = c.Config.Near(a.Origin)
		}
		c.warnings.Add(diag.New(pos, "addon %s: %s", a.Name, w.Message).WithHint("%s", w.Hint))
	}
	return c.customized(a, v, engine, result)
}

// writeAddons adds the files of the addons to a result, Secrets encrypted.
func (c *compiler) writeAddons(files []gitops.File, res *Result) error {
	if c.secrets.Operator == nil {
		return nil
	}
	var problems diag.List
	for _, f := range files {
		data, err := c.manifestFile(f)
		problems.AddErr(err)
		res.files = append(res.files, tree.File{Path: f.Path, Data: data})
	}
	return problems.Err()
}
