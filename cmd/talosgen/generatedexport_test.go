package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// newestTool is the newest contract of programs that environments are exported to.
const newestTool = 13

// TestGeneratedExport exports generated environments: to plain configurations, which an
// import takes and renders to the same, and to repositories of other programs, which are
// proven before they are written. No secret is in the clear. At the nightly level the
// real talhelper makes the same configurations of its repository, and that is imported.
func TestGeneratedExport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	program := ""
	if os.Getenv(nightlyVariable) != "" {
		program = toolenv.Talhelper(t)
	}
	each(t, seeds(10, 16, 1000, environments), 2, 40, func(dir string, o generate.Options) error {
		g, err := layOut(dir, o)
		if err != nil {
			return as("sources", err)
		}
		if err := g.must("render", "--all"); err != nil {
			return as("render", err)
		}
		for _, e := range g.Environments {
			if err := g.exported(e, program); err != nil {
				return as("export", fmt.Errorf("%s, contract 1.%d: %w", e.Name, e.Contract, err))
			}
		}
		return nil
	})
}

// exported is nil if an environment can be exported, and imported again.
func (g *generated) exported(e generate.Environment, program string) error {
	plain := filepath.Join(g.dir, "plain", e.Name)
	later := func(a *app) { // than the certificates of the authorities
		a.clock = clock{func() time.Time { return fixedTime().AddDate(1, 0, 0) }, sleepFor}
	}
	if code, said := g.runIn(later, "export", e.Name, "--dir", plain); code != 0 {
		return fmt.Errorf("exit code %d\n%s", code, said)
	}
	if err := errors.Join(g.noSecretsIn(plain), g.importedFrom("talosctl", plain, "export-"+e.Name)); err != nil {
		return err
	}
	for _, to := range []string{"topf", "talhelper"} {
		dir := filepath.Join(g.dir, to, e.Name)
		code, said := g.run("export", e.Name, "--dir", dir, "--to", to)
		if e.Contract > newestTool {
			if code == 0 || !strings.Contains(said, "contract") {
				return fmt.Errorf("%s: exit code %d\n%s", to, code, said)
			}
			continue
		}
		if code != 0 {
			return fmt.Errorf("%s: exit code %d\n%s", to, code, said)
		}
		if err := g.noSecretsIn(dir); err != nil {
			return err
		}
	}
	if program == "" || e.Contract > newestTool {
		return nil
	}
	return as("talhelper", g.talhelper(program, e))
}

// talhelper is nil if the real one makes the configurations of an environment, and if
// what it made is imported.
func (g *generated) talhelper(program string, e generate.Environment) error {
	dir := filepath.Join(g.dir, "talhelper", e.Name)
	parts, err := parts()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "genconfig", "--offline-mode", "--no-gitignore", "-m", "cloud")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "SOPS_AGE_KEY="+operatorKey(parts["operator.agekey"]))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(g.dir, "rendered", e.Name, "nodes", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no nodes: %w", err)
	}
	for _, file := range files {
		plain, err := g.decrypted(file)
		if err != nil {
			return err
		}
		made, err := filepath.Glob(filepath.Join(dir, "clusterconfig", "*-"+filepath.Base(file)))
		if err != nil || len(made) == 0 {
			return fmt.Errorf("talhelper made no %s: %w", filepath.Base(file), err)
		}
		if err := sameConfigurations(plain, made[0]); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return g.importedFrom("talhelper", dir, "talhelper-"+e.Name)
}

// sameConfigurations is nil if two files have the same documents, in any order.
func sameConfigurations(want, have string) error {
	a, first := readDocuments(want)
	b, second := readDocuments(have)
	if err := errors.Join(first, second); err != nil {
		return err
	}
	for id, text := range a {
		if b[id] != text {
			return fmt.Errorf("%s is\n%s\nwant\n%s", id, b[id], text)
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d documents, want %d", len(b), len(a))
	}
	return nil
}

// readDocuments are the documents of a file, in one form, by what they are known by.
func readDocuments(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc map[string]any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := yaml.Marshal(doc)
		if err != nil {
			return nil, err
		}
		all[fmt.Sprint(doc["kind"], " ", doc["name"])] = string(text)
	}
}
