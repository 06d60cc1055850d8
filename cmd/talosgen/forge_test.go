package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

// forge plays what a pipeline talks to: a place with a release, and the comments and
// issues of a repository, by the API of GitHub and by that of GitLab. A hundred of each
// are of people, so there are two pages.
type forge struct {
	*httptest.Server
	release []byte

	mu       sync.Mutex
	comments []*said
	issues   []*said
	writes   []string     // methods
	statuses []string     // of commits, in the words of GitHub
	refuses  bool         // whatever the token is
	coming   atomic.Int32 // that wait for each other
	together *sync.WaitGroup
}

// said is a comment or an issue.
type said struct {
	id          int
	title, body string
	bot         bool
	state       string // of an issue: open or closed
	why         string // it was closed
}

const (
	planMark    = "<!-- talosgen-plan -->"
	forgeToken  = "runner"
	forgeIssues = "/api/repos/example/clusters/issues"
	forgeLab    = "/lab/projects/7"
)

// newForge has a release that is this talosgen. One of the comments of people and one of
// their issues look like those of a pipeline.
func newForge(t *testing.T) *forge {
	t.Helper()
	program, err := exec.LookPath("talosgen")
	if err != nil {
		t.Fatal(err)
	}
	f := &forge{release: []byte("#!/bin/sh\nexec '" + program + "' \"$@\"\n")}
	for i := range 100 {
		f.comments = append(f.comments, &said{id: i + 1, body: "looks good"})
		f.issues = append(f.issues, &said{id: i + 1, body: "it is slow", state: "open"})
	}
	f.comments[3].body = planMark + "\nnot by a bot"
	f.issues[3].body = "<!-- talosgen-drift dev -->\nnot by a bot"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /releases/v0.1.0/talosgen-linux-amd64", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(f.release) })
	f.serve(mux, forgeIssues+"/7/comments", forgeIssues+"/comments", &f.comments)
	f.serve(mux, forgeIssues, forgeIssues, &f.issues)
	mux.HandleFunc("GET /lab/user", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id": 1}`) })
	f.serve(mux, forgeLab+"/merge_requests/7/notes", forgeLab+"/merge_requests/7/notes", &f.comments)
	f.serve(mux, forgeLab+"/issues", forgeLab+"/issues", &f.issues)
	mux.HandleFunc("POST /api/repos/example/clusters/statuses/{commit}", f.status)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// serve serves a list, and what is in it.
func (f *forge) serve(mux *http.ServeMux, list, each string, of *[]*said) {
	handle := func(pattern string, do func(r *http.Request) (any, int)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if f.refuses || r.Header.Get("Authorization") != "Bearer "+forgeToken && r.Header.Get("PRIVATE-TOKEN") != forgeToken {
				http.Error(w, "{}", http.StatusForbidden)
				return
			}
			answer, code := do(r)
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	handle("GET "+list, func(r *http.Request) (any, int) {
		page := f.page(r, of)
		f.arrive(r)
		return page, http.StatusOK
	})
	handle("POST "+list, func(r *http.Request) (any, int) {
		s := &said{bot: true, state: "open"}
		code := f.take(r, s, func() {
			s.id = (*of)[len(*of)-1].id + 1
			*of = append(*of, s)
		})
		return f.shown(r, s), code
	})
	change := func(r *http.Request) (any, int) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		f.mu.Lock()
		i := slices.IndexFunc(*of, func(s *said) bool { return s.id == id && s.bot })
		f.mu.Unlock()
		if i < 0 {
			return nil, http.StatusNotFound
		}
		if r.Method == http.MethodDelete {
			return nil, f.take(r, &said{}, func() { *of = slices.Delete(*of, i, i+1) })
		}
		return nil, f.take(r, (*of)[i], func() {})
	}
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodDelete} {
		handle(method+" "+each+"/{id}", change)
	}
}

// status takes the status of a commit.
func (f *forge) status(w http.ResponseWriter, r *http.Request) {
	var sent struct{ State, Context string }
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent.Context != "talosgen/apply/dev" || r.Header.Get("Authorization") != "Bearer "+forgeToken {
		http.Error(w, "{}", http.StatusForbidden)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses = append(f.statuses, sent.State)
	w.WriteHeader(http.StatusCreated)
}

// meet lets the next two that have seen the last page go on only together: none saw what
// the other one says.
func (f *forge) meet() {
	f.together = &sync.WaitGroup{}
	f.together.Add(2)
	f.coming.Store(2)
}

func (f *forge) arrive(r *http.Request) {
	if r.URL.Query().Get("page") == "2" && f.coming.Add(-1) >= 0 {
		f.together.Done()
		f.together.Wait()
	}
}

// take takes in what is sent, and then does the rest.
func (f *forge) take(r *http.Request, into *said, then func()) int {
	var sent struct{ Title, Body, Description, State, StateReason, StateEvent string }
	if strings.HasPrefix(r.URL.Path, forgeLab) {
		_ = r.ParseForm()
		sent.Title, sent.Body, sent.StateEvent = r.PostForm.Get("title"), r.PostForm.Get("description")+r.PostForm.Get("body"), r.PostForm.Get("state_event")
	} else if r.Method != http.MethodDelete {
		var text struct {
			Title, Body, State string
			Reason             string `json:"state_reason"`
		}
		if err := json.NewDecoder(r.Body).Decode(&text); err != nil {
			return http.StatusBadRequest
		}
		sent.Title, sent.Body, sent.State, sent.StateReason = text.Title, text.Body, text.State, text.Reason
	}
	if utf8.RuneCountInString(sent.Body) > 65536 {
		return http.StatusUnprocessableEntity
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, r.Method)
	if sent.Body != "" {
		into.title, into.body = sent.Title, sent.Body
	}
	if sent.State == "closed" || sent.StateEvent == "close" {
		into.state, into.why = "closed", sent.StateReason
	}
	then()
	return http.StatusOK
}

// page is one page of a list, of issues those that are open.
func (f *forge) page(r *http.Request, of *[]*said) (all []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	all = []any{}
	var listed []*said
	for _, s := range *of {
		if state := r.URL.Query().Get("state"); state == "" || s.state == "open" && (state == "open" || state == "opened") {
			listed = append(listed, s)
		}
	}
	begin := min(max(page-1, 0)*100, len(listed))
	for _, s := range listed[begin:min(begin+100, len(listed))] {
		all = append(all, f.shown(r, s))
	}
	return all
}

// shown is what a forge shows of it.
func (f *forge) shown(r *http.Request, s *said) map[string]any {
	field := map[bool]string{false: "body", true: "description"}[strings.HasPrefix(r.URL.Path, forgeLab+"/issues")]
	number := map[bool]string{false: "iid", true: "number"}[strings.HasPrefix(r.URL.Path, forgeIssues)]
	all := map[string]any{"id": s.id, "user": map[string]string{"type": map[bool]string{false: "User", true: "Bot"}[s.bot]}, "author": map[string]int{"id": map[bool]int{false: 2, true: 1}[s.bot]}, field: s.body}
	if s.state != "" && strings.HasSuffix(r.URL.Path, "/issues") {
		all["id"], all[number] = 1000+s.id, s.id // the number is another one
	}
	return all
}

func (f *forge) digest() string {
	sum := sha256.Sum256(f.release)
	return hex.EncodeToString(sum[:])
}

// ours are what was said by pipelines.
func ours(all []*said) (bots []*said) {
	for _, s := range all {
		if s.bot {
			bots = append(bots, s)
		}
	}
	return bots
}

// needs skips a test on a machine without the programs that runners of pipelines have.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s, which runners have", name)
		}
	}
}
