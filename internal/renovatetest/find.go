package renovatetest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Dependency is a version that a manager found in a file, and where newer ones of it
// are looked up.
type Dependency struct {
	File, DepName, PackageName, DepType      string
	Datasource, Versioning, ExtractVersion   string
	RegistryURL, CurrentValue, CurrentDigest string

	manager *Manager
	index   int    // among what the manager found in the file
	replace string // the text in whose place a newer version is put
}

// String is a line for people: cluster.yaml: helm web 1.0.0 of https://….
func (d Dependency) String() string {
	text := fmt.Sprintf("%s: %s %s %s", d.File, d.Datasource, cmp.Or(d.PackageName, d.DepName), d.CurrentValue)
	if d.RegistryURL != "" {
		text += " of " + d.RegistryURL
	}
	if d.CurrentDigest != "" {
		text += " with " + d.CurrentDigest[:8]
	}
	return text
}

// Find finds what the managers find in files, by their paths in the repository: in the
// order of files, then of managers.
func (c *Config) Find(files map[string]string) ([]Dependency, error) {
	var all []Dependency
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if c.ignores(file) {
			continue
		}
		for i := range c.CustomManagers {
			m := &c.CustomManagers[i]
			if !m.reads(file) {
				continue
			}
			found, err := m.find(file, files[file])
			if err != nil {
				return nil, err
			}
			for _, d := range found {
				all = append(all, c.ruled(d))
			}
		}
	}
	return all, nil
}

// find finds what a manager finds in the text of a file.
func (m *Manager) find(file, text string) (all []Dependency, err error) {
	add := func(groups map[string]string, replace string) error {
		d, err := m.dependency(groups)
		if err != nil || d.DepName == "" || d.CurrentValue == "" && d.CurrentDigest == "" {
			return err // what has no name, or no version, is none
		}
		d.File, d.manager, d.index, d.replace = file, m, len(all), replace
		all = append(all, d)
		return nil
	}
	if m.MatchStringsStrategy == "recursive" {
		return all, m.recurse(text, 0, nil, add)
	}
	for _, e := range m.strings {
		for _, match := range matches(e, text) {
			if err := add(match.groups, match.text); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// recurse matches the next pattern within what the one before it matched.
func (m *Manager) recurse(text string, at int, groups map[string]string, add func(map[string]string, string) error) error {
	if at == len(m.strings) {
		return add(groups, text)
	}
	for _, match := range matches(m.strings[at], text) {
		all := map[string]string{}
		maps.Copy(all, groups)
		maps.Copy(all, match.groups)
		if err := m.recurse(match.text, at+1, all, add); err != nil {
			return err
		}
	}
	return nil
}

// match is a text that a pattern matched, and its named groups.
type match struct {
	text   string
	groups map[string]string
}

func matches(e *regexp.Regexp, text string) (all []match) {
	for _, found := range e.FindAllStringSubmatch(text, -1) {
		m := match{text: found[0], groups: map[string]string{}}
		for i, name := range e.SubexpNames() {
			if name != "" && found[i] != "" {
				m.groups[name] = found[i]
			}
		}
		all = append(all, m)
	}
	return all
}

// dependency is what named groups and templates make together.
func (m *Manager) dependency(groups map[string]string) (d Dependency, err error) {
	for _, f := range []struct {
		into           *string
		template, name string
	}{
		{&d.DepName, m.DepNameTemplate, "depName"}, {&d.PackageName, m.PackageNameTemplate, "packageName"},
		{&d.DepType, m.DepTypeTemplate, "depType"}, {&d.Datasource, m.DatasourceTemplate, "datasource"},
		{&d.Versioning, m.VersioningTemplate, "versioning"}, {&d.ExtractVersion, m.ExtractVersionTemplate, "extractVersion"},
		{&d.RegistryURL, "", "registryUrl"}, {&d.CurrentValue, "", "currentValue"}, {&d.CurrentDigest, "", "currentDigest"},
	} {
		if *f.into = groups[f.name]; f.template == "" {
			continue
		}
		if *f.into, err = fill(f.template, groups); err != nil {
			return d, err
		}
	}
	return d, nil
}

var blank = regexp.MustCompile(`\{\{\{(\w+)\}\}\}`)

// fill fills in the groups that a template names.
func fill(template string, groups map[string]string) (string, error) {
	text := blank.ReplaceAllStringFunc(template, func(name string) string { return groups[blank.FindStringSubmatch(name)[1]] })
	if strings.Contains(text, "{{") {
		return "", fmt.Errorf("a template that is not known here: %q", template)
	}
	return text, nil
}

// ruled is what the rules make of a dependency.
func (c *Config) ruled(d Dependency) Dependency {
	for _, r := range c.PackageRules {
		if len(r.MatchDepTypes) > 0 && !slices.Contains(r.MatchDepTypes, d.DepType) || !slices.Contains(r.MatchDepNames, d.DepName) {
			continue
		}
		d.Datasource = cmp.Or(r.OverrideDatasource, d.Datasource)
		d.PackageName = cmp.Or(r.OverridePackageName, d.PackageName)
		if len(r.RegistryURLs) > 0 {
			d.RegistryURL = r.RegistryURLs[0]
		}
	}
	return d
}
