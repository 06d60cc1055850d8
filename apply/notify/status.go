package notify

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/schemas"
)

// Forge is what a process knows of a forge.
type Forge struct {
	API        string // the URL of its API; empty: that of everybody's
	Token      secret.String
	Repository string // of the pipeline
}

// publicAPI are the APIs of forges that are everybody's.
var publicAPI = map[string]string{schemas.GitHub: "https://api.github.com", schemas.GitLab: "https://gitlab.com/api/v4"}

// TokenVariable names where the token of a forge is in the environment of a process.
var TokenVariable = map[string]string{schemas.GitHub: "GITHUB_TOKEN", schemas.GitLab: "GITLAB_TOKEN"}

// A repository is a part of a URL, and that of GitHub has one owner.
var repositories = map[string]*regexp.Regexp{
	schemas.GitHub: regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`),
	schemas.GitLab: regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`),
}

// commitStatus tells the status of a commit.
func commitStatus(want schemas.StatusTarget, f Forge, commit string) (*target, error) {
	name := "commit status"
	repository := cmp.Or(want.Repository, f.Repository)
	switch {
	case f.Token.IsZero():
		return nil, fmt.Errorf("%s: %s is not set", name, TokenVariable[want.Forge])
	case repository == "":
		return nil, fmt.Errorf("%s: notifications.commitStatus.repository names none, and no pipeline does", name)
	case repositories[want.Forge] == nil || !repositories[want.Forge].MatchString(repository):
		return nil, fmt.Errorf("%s: %q is no repository there", name, repository)
	}
	api, err := reachable(name, strings.TrimSuffix(cmp.Or(f.API, publicAPI[want.Forge]), "/"))
	if err != nil {
		return nil, err
	}
	if want.Forge == schemas.GitLab {
		return gitlabStatus(name, at(api, "projects", repository, "statuses", commit), f.Token), nil
	}
	return githubStatus(name, at(api, "repos", repository, "statuses", commit), f.Token), nil
}

// at is a resource of an API. The parts of a repository's name are separate only for who
// takes them so.
func at(api *url.URL, kind, repository, what, commit string) *url.URL {
	if kind == "projects" {
		repository = url.PathEscape(repository)
	}
	u := *api
	u.RawPath = strings.Join([]string{api.EscapedPath(), kind, repository, what, commit}, "/")
	u.Path, _ = url.PathUnescape(u.RawPath) // of what is escaped above
	return &u
}

// Context names a status among those of a commit: each command of an environment has one.
func (r Run) Context() string { return "talosgen/" + r.Command + "/" + r.Environment }

func githubStatus(name string, at *url.URL, token secret.String) *target {
	return &target{name: name, url: at, permission: "the permission statuses: write", message: func(r Run, header http.Header) any {
		header.Set("Authorization", "Bearer "+token.Reveal())
		header.Set("Accept", "application/vnd.github+json")
		header.Set("X-GitHub-Api-Version", "2022-11-28")
		return struct {
			State       State  `json:"state"`
			Context     string `json:"context"`
			Description string `json:"description"`
			TargetURL   string `json:"target_url,omitempty"`
		}{r.State, r.Context(), r.description(), r.Link}
	}}
}

// gitlabState are the states of a run in the words of GitLab.
var gitlabState = map[State]string{Pending: "running", Success: "success", Failure: "failed", Error: "canceled"}

func gitlabStatus(name string, at *url.URL, token secret.String) *target {
	return &target{name: name, url: at, permission: "the scope api, and the role Developer", needless: standsAlready, message: func(r Run, header http.Header) any {
		header.Set("PRIVATE-TOKEN", token.Reveal())
		return struct {
			State       string `json:"state"`
			Name        string `json:"name"`
			Description string `json:"description"`
			TargetURL   string `json:"target_url,omitempty"`
		}{gitlabState[r.State], r.Context(), r.description(), r.Link}
	}}
}

// standsAlready: GitLab refuses a status that a commit has already, such as the one that a
// run has left which was killed.
func standsAlready(status int, body []byte) bool {
	return status == http.StatusBadRequest && bytes.Contains(body, []byte("Cannot transition status via :run from :running"))
}
