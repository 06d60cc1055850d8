// Package renovatetest is for tests: it does with the custom managers of a
// renovate.json what Renovate does. It finds versions in files, and puts newer ones in
// their places. Renovate compiles patterns with RE2, so Go's regular expressions are
// theirs. What a configuration has that is not known here is an error.
package renovatetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Config is a renovate.json, as far as talosgen writes one.
type Config struct {
	Schema            string    `json:"$schema"`
	Description       string    `json:"description"`
	Extends           []string  `json:"extends"`
	BranchPrefix      string    `json:"branchPrefix"`
	GitIgnoredAuthors []string  `json:"gitIgnoredAuthors"`
	IgnorePaths       []string  `json:"ignorePaths"`
	CustomManagers    []Manager `json:"customManagers"`
	PackageRules      []Rule    `json:"packageRules"`
}

// Manager finds versions in files by regular expressions.
type Manager struct {
	Description            string   `json:"description"`
	CustomType             string   `json:"customType"`
	ManagerFilePatterns    []string `json:"managerFilePatterns"`
	MatchStrings           []string `json:"matchStrings"`
	MatchStringsStrategy   string   `json:"matchStringsStrategy"`
	DepNameTemplate        string   `json:"depNameTemplate"`
	PackageNameTemplate    string   `json:"packageNameTemplate"`
	DepTypeTemplate        string   `json:"depTypeTemplate"`
	DatasourceTemplate     string   `json:"datasourceTemplate"`
	VersioningTemplate     string   `json:"versioningTemplate"`
	ExtractVersionTemplate string   `json:"extractVersionTemplate"`

	files, strings []*regexp.Regexp
}

// Rule changes what is looked up for some of what was found.
type Rule struct {
	Description           string   `json:"description"`
	MatchDepTypes         []string `json:"matchDepTypes"`
	MatchDepNames         []string `json:"matchDepNames"`
	RegistryURLs          []string `json:"registryUrls"`
	OverrideDatasource    string   `json:"overrideDatasource"`
	OverridePackageName   string   `json:"overridePackageName"`
	SeparateMinorPatch    bool     `json:"separateMinorPatch"`
	SeparateMultipleMinor bool     `json:"separateMultipleMinor"`
}

// Parse reads a renovate.json.
func Parse(text []byte) (*Config, error) {
	var c Config
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, err
	}
	for i := range c.CustomManagers {
		if err := c.CustomManagers[i].compile(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.CustomManagers[i].Description, err)
		}
	}
	return &c, nil
}

// compile compiles the patterns of a manager.
func (m *Manager) compile() error {
	if m.CustomType != "regex" || !slices.Contains([]string{"", "any", "recursive"}, m.MatchStringsStrategy) {
		return fmt.Errorf("type %q, strategy %q", m.CustomType, m.MatchStringsStrategy)
	}
	for _, pattern := range m.ManagerFilePatterns {
		text, begins := strings.CutPrefix(pattern, "/")
		text, ends := strings.CutSuffix(text, "/")
		if !begins || !ends {
			return fmt.Errorf("no regular expression between slashes: %q", pattern)
		}
		e, err := regexp.Compile(text)
		if err != nil {
			return err
		}
		m.files = append(m.files, e)
	}
	for _, pattern := range m.MatchStrings {
		e, err := regexp.Compile(pattern)
		if err != nil {
			return err
		}
		m.strings = append(m.strings, e)
	}
	return nil
}

// reads tells whether a manager is for a file.
func (m *Manager) reads(file string) bool {
	return slices.ContainsFunc(m.files, func(e *regexp.Regexp) bool { return e.MatchString(file) })
}

// ignores tells whether no manager reads a file.
func (c *Config) ignores(file string) bool {
	return slices.ContainsFunc(c.IgnorePaths, func(pattern string) bool {
		e := regexp.QuoteMeta(pattern)
		e = strings.ReplaceAll(e, `\*\*/`, `(?:.*/)?`)
		e = strings.ReplaceAll(e, `\*\*`, `.*`)
		e = strings.ReplaceAll(e, `\*`, `[^/]*`)
		return regexp.MustCompile("^" + e + "$").MatchString(file)
	})
}
