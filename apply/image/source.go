package image

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/rescue"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Source is where the content of an image comes from.
type Source = rescue.Source

// goArch are the architectures as Talos names them.
var goArch = map[string]string{"x86": "amd64", "arm": "arm64"}

// Arch returns an architecture of Hetzner Cloud as Talos names it.
func Arch(hetzner string) string {
	if name, known := goArch[hetzner]; known {
		return name
	}
	return hetzner
}

// Mirrors say where images come from instead of the Image Factory, by
// architecture as Talos names it; "" is for all of them.
type Mirrors map[string]string

var digestPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{64}$`)
})

// ParseMirrors reads what was given with --image-url: URLs, or architectures
// with a URL, as in arm64=https://example.com/talos.raw.xz.
func ParseMirrors(texts []string) (Mirrors, error) {
	m := Mirrors{}
	for _, text := range texts {
		arch, link := "", text
		if name, rest, found := strings.Cut(text, "="); found && (name == "amd64" || name == "arm64") {
			arch, link = name, rest
		}
		u, err := url.Parse(link)
		problem := diag.On("--image-url", "%q", text).WithCode(diag.Usage)
		switch digest := ""; {
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
			problem.Message += " is not the URL of an image"
			return nil, problem.WithHint("such as https://mirror.example.com/{path}, or arm64=https://example.com/talos-arm64.raw.xz")
		case u.User != nil:
			problem.Message = "a URL with a password in it: the password would be seen on the builder"
			return nil, problem
		case m[arch] != "":
			problem.Message += " is a second one for the same architecture"
			return nil, problem
		default:
			if digest, _ = strings.CutPrefix(u.Fragment, "sha256="); u.Fragment != "" && !digestPattern().MatchString(digest) {
				problem.Message += ": the part after # is not sha256= and a digest in hexadecimal"
				return nil, problem
			}
		}
		m[arch] = link
	}
	return m, nil
}

// Source returns where an image comes from. In the URL of a mirror, {path} is
// the path at the Image Factory, and {arch} is amd64 or arm64.
func (m Mirrors) Source(want schemas.InfraSnapshot) Source {
	link, found := m[Arch(want.Architecture)]
	if !found {
		link = m[""]
	}
	if link == "" {
		return Source{URL: want.URL, Schematic: want.Schematic}
	}
	link, digest, _ := strings.Cut(link, "#sha256=")
	path := want.URL
	if u, err := url.Parse(want.URL); err == nil {
		path = strings.TrimPrefix(u.EscapedPath(), "/")
	}
	return Source{URL: strings.NewReplacer("{path}", path, "{arch}", Arch(want.Architecture)).Replace(link), SHA256: digest}
}

// Check refuses mirrors by which images of several architectures would be one
// and the same.
func (m Mirrors) Check(wanted []schemas.InfraSnapshot) error {
	seen := map[string]string{}
	for _, want := range wanted {
		s, arch := m.Source(want), Arch(want.Architecture)
		if other := seen[s.URL]; other != "" && other != arch {
			return diag.On("--image-url", "%s is for %s and for %s", s.URL, other, arch).WithCode(diag.Usage).
				WithHint("name one for each, as in %s=URL, or write {arch} or {path} where they differ", arch)
		}
		seen[s.URL] = arch
	}
	return nil
}
