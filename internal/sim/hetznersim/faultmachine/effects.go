package faultmachine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// refused answers with an error. That something is not there is the answer to a
// deletion only if somebody else has deleted it just before.
func refused(c code) faultproxy.Effect {
	refuse := faultproxy.Refuse(c.status, c.name)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodDelete && c.status == http.StatusNotFound {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		refuse(w, r, next)
	}
}

// sim lets the simulator's own fault strike the request.
func sim(as hetznersim.Outcome) func(*Machine, faultgrammar.Fault) faultproxy.Effect {
	return func(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			m.sim.Inject(hetznersim.Fault{Method: r.Method, Path: r.URL.Path[len("/v1"):], As: as})
			next.ServeHTTP(w, r)
		}
	}
}

func slow(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if m.sim.Clock().Sleep(r.Context(), time.Duration(f.Seconds)*time.Second) == nil {
			next.ServeHTTP(w, r)
		}
	}
}

// limitGone answers as if others had used up the rate limit.
func limitGone(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
	refuse := faultproxy.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded")
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		now := m.sim.Clock().Now()
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.Header().Set("RateLimit-Limit", strconv.Itoa(hetznersim.HourlyLimit))
		w.Header().Set("RateLimit-Remaining", "0")
		w.Header().Set("RateLimit-Reset", strconv.FormatInt(now.Add(time.Hour).Unix(), 10))
		refuse(w, r, next)
	}
}

func stale(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	return faultproxy.Stale(time.Duration(f.Seconds)*time.Second, m.sim.Clock().Now)
}

// lag hides from lists by a label what is younger than some seconds.
func lag(m *Machine, f faultgrammar.Fault) faultproxy.Effect {
	young := time.Duration(f.Seconds) * time.Second
	hide := faultproxy.Edit(func(body map[string]any) {
		for key, value := range body {
			all, is := value.([]any)
			if !is {
				continue
			}
			var left = []any{}
			for _, o := range all {
				object, _ := o.(map[string]any)
				text, _ := object["created"].(string)
				made, err := time.Parse(time.RFC3339, text)
				if err != nil || m.sim.Clock().Now().Sub(made) >= young {
					left = append(left, o)
				}
			}
			body[key] = left
			recount(body, len(all)-len(left))
		}
	})
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("label_selector") == "" {
			next.ServeHTTP(w, r)
			return
		}
		hide(w, r, next)
	}
}

// recount takes what is hidden from what a list says that there is.
func recount(body map[string]any, hidden int) {
	meta, _ := body["meta"].(map[string]any)
	pagination, _ := meta["pagination"].(map[string]any)
	if total, is := pagination["total_entries"].(float64); is {
		pagination["total_entries"] = total - float64(hidden)
	}
}

// shift gives lists in pages of two, and lets others delete something of theirs
// from the first page once it was read.
func shift(m *Machine, _ faultgrammar.Fault) faultproxy.Effect {
	var once sync.Once
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		q.Set("per_page", "2")
		short := r.Clone(r.Context())
		short.URL.RawQuery = q.Encode()
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, short)
		if p := q.Get("page"); p == "" || p == "1" {
			m.dropFirst(r.URL.Path, answer.Body.Bytes(), &once)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// dropFirst deletes the first object of a page that is a short-lived one of
// others, if there is one.
func (m *Machine) dropFirst(at string, page []byte, once *sync.Once) {
	var body map[string]any
	if json.Unmarshal(page, &body) != nil {
		return
	}
	for _, value := range body {
		all, _ := value.([]any)
		for _, o := range all {
			object, _ := o.(map[string]any)
			if labels, _ := object["labels"].(map[string]any); labels[Fleeting] != nil {
				once.Do(func() { m.call(http.MethodDelete, at+"/"+strconv.FormatInt(int64(object["id"].(float64)), 10), "") })
			}
		}
	}
}

// Fleeting is the label of what others may delete at any time.
const Fleeting = "fleeting"

// call makes a request as somebody else, and returns the answer.
func (m *Machine) call(method, path, body string) (answer map[string]any) {
	r := httptest.NewRequest(method, path, io.NopCloser(bytes.NewReader([]byte(body))))
	r.Header.Set("Authorization", "Bearer "+m.sim.Token())
	w := httptest.NewRecorder()
	m.sim.ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &answer) // an answer without a body is none
	return answer
}
