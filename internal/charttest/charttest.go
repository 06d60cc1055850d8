// Package charttest is for tests: it packs charts, and serves them as an HTTP
// repository and as a registry for images, with and without credentials.
package charttest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Pack makes the archive of a chart from its files, by their path in the chart.
// Equal files give equal bytes.
func Pack(name string, files map[string]string) []byte {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		head := &tar.Header{Name: name + "/" + path, Size: int64(len(files[path])), Mode: 0o644, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(head); err != nil {
			panic(err) // the buffer takes everything
		}
		if _, err := w.Write([]byte(files[path])); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	if err := zipped.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Small packs a chart with one ConfigMap, which holds the version.
func Small(name, version string) []byte {
	return Pack(name, map[string]string{
		"Chart.yaml":               fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"values.yaml":              "greeting: hello\n",
		"templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  greeting: {{ .Values.greeting }}\n  version: {{ .Chart.Version | quote }}\n",
	})
}

// Chart is a chart that a server has.
type Chart struct {
	Name, Version string
	Archive       []byte
}

// Server serves charts: below /charts as an HTTP repository, in /v2/charts as a
// registry (oci://<host>/charts), and files below /files.
type Server struct {
	Charts []Chart
	Files  map[string][]byte
	// User and Password are asked for, if there are any: by the repository with
	// basic authentication, by the registry with a token of /token.
	User, Password string
	// Fault is asked before every answer; it may answer itself and return true.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	// IndexDigest replaces the digests in the index.
	IndexDigest string
	// PageSize is how many tags the registry lists at once; 0: all.
	PageSize int
	// Requests are the paths that were asked for.
	Requests []string
}

// Token is what the registry accepts.
const Token = "registry-token-canary"

// Digest is the SHA-256 of content, in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Requests = append(s.Requests, r.URL.Path)
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch first {
	case "charts":
		if s.basic(w, r) {
			s.repository(w, r, rest)
		}
	case "v2":
		if s.bearer(w, r) {
			s.registry(w, r, strings.TrimPrefix(rest, "charts/"))
		}
	case "token":
		if s.basic(w, r) {
			_ = json.NewEncoder(w).Encode(map[string]string{"token": Token})
		}
	case "files":
		s.send(w, r, s.Files[rest])
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) basic(w http.ResponseWriter, r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	if s.User == "" || user == s.User && password == s.Password {
		return true
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
	http.Error(w, "no", http.StatusUnauthorized)
	return false
}

func (s *Server) bearer(w http.ResponseWriter, r *http.Request) bool {
	if s.User == "" || r.Header.Get("Authorization") == "Bearer "+Token {
		return true
	}
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="charts",scope="repository:charts:pull"`, r.Host))
	http.Error(w, "no", http.StatusUnauthorized)
	return false
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, data []byte) {
	if data == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data) // who does not read all of it is part of a test
}

// repository answers what is below /charts.
func (s *Server) repository(w http.ResponseWriter, r *http.Request, path string) {
	if path == "index.yaml" {
		s.send(w, r, s.index())
		return
	}
	for _, c := range s.Charts {
		if path == c.Name+"-"+c.Version+".tgz" {
			s.send(w, r, c.Archive)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *Server) index() []byte {
	entries := map[string][]map[string]any{}
	for _, c := range s.Charts {
		digest := Digest(c.Archive)
		if s.IndexDigest != "" {
			digest = s.IndexDigest
		}
		entries[c.Name] = append(entries[c.Name], map[string]any{
			"name": c.Name, "version": c.Version, "digest": digest, "urls": []string{c.Name + "-" + c.Version + ".tgz"},
		})
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "entries": entries})
	if err != nil {
		panic(err) // texts and lists have JSON
	}
	return text
}

// registry answers what is below /v2/charts.
func (s *Server) registry(w http.ResponseWriter, r *http.Request, path string) {
	name, what, _ := strings.Cut(path, "/")
	for _, c := range s.Charts {
		if c.Name != name {
			continue
		}
		manifest := Manifest(c.Archive)
		switch what {
		case "tags/list":
			s.tags(w, r, name)
			return
		case "manifests/" + strings.ReplaceAll(c.Version, "+", "_"), "manifests/sha256:" + Digest(manifest):
			s.send(w, r, manifest)
			return
		case "blobs/sha256:" + Digest(c.Archive):
			s.send(w, r, c.Archive)
			return
		}
	}
	http.NotFound(w, r)
}

// Manifest is what the registry says of an archive.
func Manifest(archive []byte) []byte {
	return fmt.Appendf(nil, `{"schemaVersion":2,"layers":[{"mediaType":"application/vnd.cncf.helm.chart.provenance.v1.prov","digest":"sha256:%064d"},{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"sha256:%s","size":%d}]}`,
		0, Digest(archive), len(archive))
}

// tags lists versions, page by page.
func (s *Server) tags(w http.ResponseWriter, r *http.Request, name string) {
	var all []string
	for _, c := range s.Charts {
		if c.Name == name {
			all = append(all, strings.ReplaceAll(c.Version, "+", "_"))
		}
	}
	if last := r.URL.Query().Get("last"); last != "" {
		all = all[slices.Index(all, last)+1:]
	}
	if s.PageSize > 0 && len(all) > s.PageSize {
		all = all[:s.PageSize]
		w.Header().Set("Link", fmt.Sprintf(`<%s?last=%s>; rel="next"`, r.URL.Path, all[len(all)-1]))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "tags": all})
}
