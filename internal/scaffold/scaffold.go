// Package scaffold owns the files that `talosgen init` writes into a new
// repository. It makes them in memory; whoever calls it writes them, and then
// lets talosgen make the environment's secrets.
package scaffold

import (
	"embed"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/internal/versions"
)

// Providers are the values of [Options].Provider.
var Providers = []string{hetzner, "static"}

const hetzner = "hetzner"

// CIs are the values of [Options].CI: whose pipeline a new repository has.
var CIs = []string{"github", "gitlab", withoutCI}

const withoutCI = "none"

// Options say what a new repository is for. All of them are public.
type Options struct {
	Provider          string // one of [Providers]
	CI                string // one of [CIs]
	Env               string // the name of its first environment
	ClusterName       string
	AgeRecipient      string // the public age key that secrets are encrypted for
	TalosVersion      string // that of the newest known release if empty
	KubernetesVersion string // if empty, what goes with that Talos
	TalosgenVersion   string // the release that checks pull requests, without a leading v
	// The SHA-256 of that release's program for linux/amd64, in hexadecimal digits;
	// if it is empty, the pipeline says that it has to be filled in.
	TalosgenDigest string
	// Inside means that it is a folder of a larger repository: files that programs look
	// for at the top of that are left out, and there is no pipeline.
	Inside bool
	// From where the APIs of the cluster may be used: ranges, or addresses. Without
	// any, cluster.yaml says where to name them.
	APISource []string
}

// File is a file of the new repository.
type File struct {
	Path string // with slashes, from the root of the repository
	Data []byte
	Mode fs.FileMode
}

//go:embed files
var archives embed.FS

// Files returns the files of a new repository, sorted by path. With the secrets
// that `talosgen secrets init` makes, its environment renders at once.
func Files(o Options) ([]File, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	fill := o.replacer()
	var files []File
	names := []string{"common", o.Provider, "time"}
	if versions.Minor(o.talos()) < timeDocuments {
		names[2] = "time-1.11"
	}
	if !o.Inside {
		names = append(names, "top")
	}
	if o.CI != withoutCI {
		names = append(names, o.CI)
	}
	for _, name := range names {
		archive, err := archives.ReadFile("files/" + name + ".txtar")
		if err != nil {
			return nil, err
		}
		for _, f := range split(string(archive)) {
			files = append(files, File{Path: fill.Replace(f.name), Data: []byte(fill.Replace(f.text)), Mode: 0o644})
		}
	}
	sorting.By(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// What the README of a new repository says of files at the top of it.
const (
	topText = ` ` + "`pre-commit install`" + ` renders before every commit
with [pre-commit](https://pre-commit.com).`
	renovateText = "| `renovate.json` | where [Renovate](https://docs.renovatebot.com) finds versions, if you let it |\n"
)

// ciText is what the README of a new repository says of its pipeline.
var ciText = map[string]string{
	"github": ` The workflow in
` + "`.github`" + ` checks pull requests, without any key, and can plan and apply too: its
head says how.`,
	"gitlab": ` The pipeline in
` + "`.gitlab-ci.yml`" + ` checks merge requests, without any key, and can plan and apply
too: its head says how.`,
}

// replacer fills in the blanks of the archives, which are written @NAME@.
func (o Options) replacer() *strings.Replacer {
	other := "prod"
	if o.Env == other {
		other = "staging"
	}
	top, renovate := topText+ciText[o.CI], renovateText
	if o.Inside {
		top, renovate = "", ""
	}
	return strings.NewReplacer(
		"@TOP@", top,
		"@RENOVATE@", renovate,
		"@ENV@", o.Env,
		"@OTHER_ENV@", other,
		"@CLUSTER_NAME@", o.ClusterName,
		"@AGE_RECIPIENT@", o.AgeRecipient,
		"@TALOS_VERSION@", o.talos(),
		"@KUBERNETES_VERSION@", o.kubernetes(),
		"@API_SOURCE@", o.apiSource(),
		"@TALOSGEN_VERSION@", strings.TrimPrefix(o.TalosgenVersion, "v"),
		"@TALOSGEN_SHA256@", o.TalosgenDigest,
	)
}

// What options may hold. They end up in paths, in names of nodes, and in YAML
// without quotes.
var (
	labelForm   = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$`)
	versionForm = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){2}(-[0-9A-Za-z.-]+)?$`)
	digestForm  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	ageForm     = regexp.MustCompile(`^age1[a-z0-9]+$`)
)

// check reports everything that is wrong with the options.
func (o Options) check() error {
	var problems diag.List
	fail := func(option, value, hint string) {
		problems.Add(diag.On("", "%s %q cannot be used", option, value).WithHint("%s", hint).WithCode(diag.Usage))
	}
	if !ageForm.MatchString(o.AgeRecipient) {
		// It may be the private key by mistake, so it is not repeated.
		problems.Add(diag.On("", "the age recipient cannot be used").
			WithHint("the public key of an age key pair begins with age1").WithCode(diag.Usage))
	}
	if !slices.Contains(Providers, o.Provider) {
		fail("provider", o.Provider, "providers: "+strings.Join(Providers, ", "))
	}
	if !slices.Contains(CIs, o.CI) {
		fail("CI", o.CI, "CI: "+strings.Join(CIs, ", "))
	} else if o.Inside && o.CI != withoutCI {
		fail("CI", o.CI, "this is a folder of a Git repository, and a pipeline has to be at its top (docs/how-to/check-in-ci.md); leave --ci out")
	}
	if len(o.APISource) > 0 && o.Provider != hetzner {
		problems.Add(diag.On("", "an API source is for provider %s: only there is a firewall", hetzner).WithCode(diag.Usage))
	}
	for _, text := range o.APISource {
		if _, err := sourceRange(text); err != nil {
			fail("API source", text, "an address, or a range such as 203.0.113.0/24")
		}
	}
	for _, f := range []struct {
		option, value string
		form          *regexp.Regexp
		optional      bool
		hint          string
	}{
		{"environment", o.Env, labelForm, false, "a name has at most 32 lower-case letters, digits and inner hyphens, and begins with a letter"},
		{"cluster name", o.ClusterName, labelForm, false, "a name has at most 32 lower-case letters, digits and inner hyphens, and begins with a letter"},
		{"Talos version", o.TalosVersion, versionForm, true, "a version has three numbers, such as " + versions.Newest().Talos},
		{"Kubernetes version", o.KubernetesVersion, versionForm, true, "a version has three numbers, such as " + versions.Newest().Start()},
		{"digest of talosgen", o.TalosgenDigest, digestForm, true, "a SHA-256 has 64 hexadecimal digits, as sha256sum prints it"},
		{"talosgen version", o.TalosgenVersion, versionForm, false, "a version has three numbers, such as 0.1.0"},
	} {
		if !f.form.MatchString(f.value) && !(f.optional && f.value == "") {
			fail(f.option, f.value, f.hint)
		}
	}
	return problems.Err()
}
