package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
)

// TestGeneratedIncremental edits generated repositories at random: what a render
// makes of the tree that is there is what a render from nothing makes, byte for byte,
// and it says the same.
func TestGeneratedIncremental(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	each(t, seeds(100, 100, 10000, environments), 2, 30, renderEdited)
}

// editsOfSeed are how often a repository is edited and rendered.
const editsOfSeed = 4

func renderEdited(dir string, o generate.Options) error {
	g, err := layOut(filepath.Join(dir, "a"), o)
	if err != nil {
		return as("sources", err)
	}
	if err := g.must("render", "--all"); err != nil {
		return as("render", err)
	}
	anew := &generated{Repository: g.Repository, dir: filepath.Join(dir, "b"), random: g.random, secrets: g.secrets}
	now, err := readFiles(g.dir)
	if err != nil {
		return err
	}
	if err := now.writeMissing(anew.dir); err != nil {
		return err
	}
	e := &edits{Rand: rand.New(rand.NewPCG(o.Seed, 7)), generated: g}
	for range editsOfSeed {
		env := g.Environments[e.IntN(len(g.Environments))]
		after := maps.Clone(now)
		what := e.edit(env.Name, after)
		if err := errors.Join(now.become(g.dir, after), now.become(anew.dir, after)); err != nil {
			return err
		}
		ok, err := sameRender(g, anew, env.Name)
		if err != nil {
			return as("incremental", fmt.Errorf("%s of %s: %w", what, env.Name, err))
		}
		if !ok { // the edit is wrong, and is undone
			if err := errors.Join(after.become(g.dir, now), after.become(anew.dir, now)); err != nil {
				return err
			}
		}
		if now, err = readFiles(g.dir); err != nil {
			return err
		}
	}
	return nil
}

// become changes the files in a directory to others.
func (f files) become(dir string, after files) error {
	for name := range f {
		if _, still := after[name]; !still {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name, text := range after {
		if was, there := f[name]; there && was == text {
			continue
		}
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// sameRender renders an environment in one repository, and from nothing in a copy of
// it, and compares all that comes of it. It is false if neither can be rendered.
func sameRender(g, anew *generated, env string) (ok bool, err error) {
	code, said := g.run("render", env)
	wantCode, want := anew.run("render", env, "--force")
	if upToDate := "rendered/" + env + " is up to date\n"; code != wantCode || said != want && said != upToDate {
		return false, fmt.Errorf("exit code %d, from nothing %d; it says\n%s\nfrom nothing\n%s", code, wantCode, said, want)
	}
	got, err := readFiles(filepath.Join(g.dir, "rendered"))
	if err != nil {
		return false, err
	}
	wanted, err := readFiles(filepath.Join(anew.dir, "rendered"))
	if err != nil {
		return false, err
	}
	if d := wanted.diff(got); d != "" {
		return false, errors.New(d)
	}
	return code == 0, nil
}

// edits are random ones of a generated repository.
type edits struct {
	*rand.Rand
	*generated
	count int
}

// edit changes files of an environment, and says what.
func (e *edits) edit(env string, all files) string {
	e.count++
	kinds := []func(env string, all files) string{
		e.addPatch, e.addPatch, e.changeSource, e.changeSource, e.removeSource, e.addToAddon, e.withoutFeature, e.damageTree,
	}
	return kinds[e.IntN(len(kinds))](env, all)
}

// pick is one of some texts; empty if there are none.
func (e *edits) pick(from []string) string {
	if len(from) == 0 {
		return ""
	}
	slices.Sort(from)
	return from[e.IntN(len(from))]
}

// below lists the files in a directory, but for the lock and what is encrypted.
func (f files) below(dir string) (names []string) {
	for name := range f {
		if strings.HasPrefix(name, dir+"/") && !strings.Contains(name, ".sops.") && path.Base(name) != "render.lock.yaml" {
			names = append(names, name)
		}
	}
	return names
}

// addPatch adds a patch in any layer; the last of the texts is warned of.
func (e *edits) addPatch(env string, all files) string {
	layers := []string{"patches/common", "patches/controlplane", "patches/worker", "envs/" + env + "/patches/common", "envs/" + env + "/patches/controlplane"}
	for _, node := range all.below("rendered/" + env + "/nodes") {
		layers = append(layers, "envs/"+env+"/patches/nodes/"+strings.TrimSuffix(path.Base(node), ".yaml"))
	}
	file := fmt.Sprintf("%s/edit-%d.yaml", e.pick(layers), e.count)
	all[file] = e.pick([]string{
		fmt.Sprintf("machine:\n  sysctls:\n    edit.n%d: \"%d\"\n", e.IntN(3), e.IntN(1000)),
		"machine:\n  certSANs: [\"${NODE_NAME}.example.com\"]\n",
		fmt.Sprintf("apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: edit\nurl: udp://10.0.0.%d:500/\n", 1+e.IntN(200)),
		"apiVersion: v1alpha1\nkind: WatchdogTimerConfig\n$patch: delete\n",
	})
	return "adding " + file
}

// changeSource changes a source of any kind a little.
func (e *edits) changeSource(env string, all files) string {
	file := e.pick(slices.Concat(all.below("patches"), all.below("envs/"+env)))
	all[file] += fmt.Sprintf("# edit %d\n", e.count)
	return "changing " + file
}

// removeSource removes a patch, or a file of an addon.
func (e *edits) removeSource(env string, all files) string {
	file := e.pick(slices.Concat(all.below("patches"), all.below("envs/"+env+"/patches"), all.below("envs/"+env+"/addons")))
	delete(all, file)
	return "removing " + file
}

// addToAddon adds a file to an addon that the tree has.
func (e *edits) addToAddon(env string, all files) string {
	var dirs []string
	for _, file := range all.below("rendered/" + env + "/bootstrap") {
		dirs = append(dirs, path.Base(path.Dir(file)))
	}
	file := fmt.Sprintf("envs/%s/addons/%s/edit-%d.yaml", env, e.pick(dirs), e.count)
	all[file] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: edit-%d\n  namespace: kube-system\ndata:\n  a: b\n", e.count)
	return "adding " + file
}

// withoutFeature takes something out of the sources, or brings it back.
func (e *edits) withoutFeature(env string, all files) string {
	o := generate.Options{Seed: e.Seed, Without: e.Without}
	feature := e.pick(slices.Clone(e.Features))
	if feature == "" || feature == "environments" {
		return "nothing"
	}
	less := generate.New(generate.Options{Seed: o.Seed, Without: with(o.Without, feature)})
	for name, text := range less.Files {
		if strings.HasPrefix(name, "envs/"+env+"/") || strings.HasPrefix(name, "patches/") {
			all[name] = text
		}
	}
	return "taking out " + feature
}

// damageTree changes or removes a rendered file by hand.
func (e *edits) damageTree(env string, all files) string {
	file := e.pick(all.below("rendered/" + env))
	if e.IntN(2) == 0 {
		delete(all, file)
		return "removing " + file
	}
	all[file] += "# edited\n"
	return "changing " + file
}
