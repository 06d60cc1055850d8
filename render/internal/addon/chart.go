package addon

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// chart is a Helm chart that was loaded.
type chart struct {
	*chartv2.Chart
	source string // file or directory, for messages
	// packed tells that source is an archive, so that places in it begin with
	// the directory inside of it.
	packed bool
}

// chart renders a Helm chart.
func (e *Engine) chart(ctx context.Context, a catalogue.Addon, source catalogue.Chart, values map[string]any) (Result, error) {
	c, err := e.load(source)
	if err != nil {
		return Result{}, err
	}
	given, err := helmValues(values)
	if err != nil {
		return Result{}, diag.On(a.Origin, "the values of the addon %s: %v", a.Name, err)
	}
	warnings := c.unknownValues(given)
	if err := chartutil.ProcessDependencies(c.Chart, given); err != nil {
		return Result{}, c.fail("has dependencies that cannot be worked out: %v", err)
	}
	if err := c.checkDependencies(); err != nil {
		return Result{}, err
	}
	caps, err := e.capabilities()
	if err != nil {
		return Result{}, err
	}
	if err := c.checkKubernetes(caps.KubeVersion); err != nil {
		return Result{}, err
	}
	release := common.ReleaseOptions{Name: a.Name, Namespace: releaseNamespace(a), Revision: 1, IsInstall: true}
	all, err := util.ToRenderValuesWithSchemaValidation(c.Chart, given, release, caps, true)
	if err != nil {
		return Result{}, c.fail("has values that cannot be merged: %v", err)
	}
	merged, _ := all["Values"].(map[string]any)
	if typed, ok := all["Values"].(common.Values); ok {
		merged = typed
	}
	if err := c.checkSchemas(a, merged); err != nil {
		return Result{}, err
	}
	if e.Bound != nil {
		var cancel context.CancelFunc
		ctx, cancel = e.Bound(ctx)
		defer cancel()
	}
	announced(c.Chart)
	out, err := c.execute(ctx, all)
	if err != nil {
		return Result{}, err
	}
	result, err := c.objects(a, out.texts)
	if err != nil {
		return Result{}, err
	}
	asks, err := c.warnOfLookups(ctx, a, all, out.lookups, result)
	result.Warnings = slices.Concat(warnings, result.Warnings, asks)
	return result, err
}

// load reads a chart from the repository of the user, or what the lock pins.
func (e *Engine) load(source catalogue.Chart) (*chart, error) {
	c := &chart{source: source.Path}
	var files []*archive.BufferedFile
	var err error
	switch {
	case source.Path == "":
		var artifact chartlock.Artifact
		if artifact, err = e.Artifact(chartlock.Reference{Repository: source.Repository, Name: source.Name, Version: source.Version}); err != nil {
			return nil, err
		}
		c.source, c.packed = artifact.Path, true
		files, err = archiveFiles(artifact.Path, artifact.Data)
	default:
		c.source = path.Clean(source.Path)
		files, c.packed, err = localFiles(e.Repository, c.source)
	}
	if err != nil {
		return nil, err
	}
	if c.Chart, err = loader.LoadFiles(files); err != nil {
		return nil, c.fail("cannot be loaded: %v", err)
	}
	if source.Path == "" && c.Name() != source.Name {
		return nil, c.fail("is not the one that was asked for, %s", source.Name)
	}
	if v := c.Metadata.APIVersion; v != chartv2.APIVersionV1 && v != chartv2.APIVersionV2 {
		return nil, c.fail("has apiVersion %s; v1 and v2 are known", v)
	}
	if strings.EqualFold(c.Metadata.Type, "library") {
		return nil, c.fail("is a library: it is there for other charts, and has nothing of its own")
	}
	return c, nil
}

// localFiles reads a chart of the repository: a directory or an archive.
func localFiles(files fs.FS, name string) (all []*archive.BufferedFile, packed bool, err error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, false, unreadable(name, err).WithHint("the path of a chart begins at the root of the repository")
	}
	if info.IsDir() {
		all, err = directoryFiles(files, name)
		return all, false, err
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, true, unreadable(name, err)
	}
	all, err = archiveFiles(name, data)
	return all, true, err
}

// fail is a problem with the chart as a whole.
func (c *chart) fail(format string, args ...any) *diag.Problem {
	name := "the chart"
	if c.Chart != nil && c.Metadata != nil && c.Metadata.Name != "" {
		name = fmt.Sprintf("the chart %s %s", c.Metadata.Name, c.Metadata.Version)
	}
	return diag.New(diag.Pos{File: c.source}, name+" "+format, args...)
}

// place makes the path that Helm gives a file of the chart one that a person
// finds.
func (c *chart) place(file string) string {
	if c.packed {
		return path.Join(c.source, file)
	}
	_, inner, _ := strings.Cut(file, "/")
	return path.Join(c.source, inner)
}

// checkDependencies finds charts that are needed and not there. Helm's engine
// renders without them.
func (c *chart) checkDependencies() error {
	var problems diag.List
	var check func(at *chartv2.Chart)
	check = func(at *chartv2.Chart) {
		for _, sub := range at.Dependencies() {
			check(sub)
		}
		for _, need := range at.Metadata.Dependencies {
			if need != nil && !slices.ContainsFunc(at.Dependencies(), func(sub *chartv2.Chart) bool { return satisfies(sub, need) }) {
				problems.Add(c.fail("needs the chart %s %s, which is not in its charts/", need.Name, need.Version).
					WithHint("`helm dependency update` puts it there; packed charts of a repository have it"))
			}
		}
	}
	check(c.Chart)
	return problems.Err()
}

// satisfies tells whether a chart is the one that is needed. Helm has given both
// the same name by now if there is an alias.
func satisfies(sub *chartv2.Chart, need *chartv2.Dependency) bool {
	return sub.Name() == need.Name && (need.Version == "" || chartutil.IsCompatibleRange(need.Version, sub.Metadata.Version))
}

// checkKubernetes finds out whether the chart is for this version.
func (c *chart) checkKubernetes(version common.KubeVersion) error {
	var problems diag.List
	var check func(at *chartv2.Chart)
	check = func(at *chartv2.Chart) {
		if want := at.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, version.String()) {
			problems.Add(c.fail("needs Kubernetes %s; the cluster has %s", want, version.Version).
				WithHint("set kubernetes.version to such a version, or take another version of the chart"))
		}
		for _, sub := range at.Dependencies() {
			check(sub)
		}
	}
	check(c.Chart)
	return problems.Err()
}

// capabilities are what charts can ask about the cluster. Nothing of it comes
// from the libraries that are linked in.
func (e *Engine) capabilities() (*common.Capabilities, error) {
	version, err := common.ParseKubeVersion(e.Kubernetes)
	if err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	var minor int
	if _, err := fmt.Sscanf(version.Minor, "%d", &minor); err != nil {
		return nil, fmt.Errorf("the version of Kubernetes: %w", err)
	}
	caps := common.DefaultCapabilities.Copy()
	caps.KubeVersion = *version
	caps.HelmVersion.GoVersion, caps.HelmVersion.KubeClientVersion = "", "" // of the program that renders
	caps.APIVersions = append(manifest.Served(minor), e.APIVersions...)
	return caps, nil
}
