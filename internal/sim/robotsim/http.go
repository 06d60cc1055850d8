package robotsim

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is a request that was made.
type Call struct {
	Method, Path string
	Status       int // 0: its answer was lost
}

// String shows it.
func (c Call) String() string { return fmt.Sprintf("%s %s %d", c.Method, c.Path, c.Status) }

// Fault lets one request fail.
type Fault struct {
	Call int // its number, from 1
	// Whether it has its effect, and only the answer is lost.
	After bool
	// What it answers; 0: nothing.
	Status int
	Code   string
	Then   func() // is called before; may be nil
}

// Inject lets a request fail.
func (s *Sim) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// ResetCalls forgets the requests and faults.
func (s *Sim) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.faults = nil, nil
}

// Calls are the requests so far.
func (s *Sim) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// problem is an error of the web service.
type problem struct {
	Status   int      `json:"status"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Missing  []string `json:"missing,omitempty"`
	Invalid  []string `json:"invalid,omitempty"`
	Most     int      `json:"max_request,omitempty"`
	Interval int      `json:"interval,omitempty"`
}

// answer is what a request leads to.
type answer struct {
	status int
	body   any
}

func ok(body any) answer { return answer{http.StatusOK, body} }

func fail(status int, code, message string) answer {
	return answer{status, map[string]problem{"error": {Status: status, Code: code, Message: message}}}
}

// ServeHTTP answers a request.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	_ = r.ParseForm() // what is missing then is invalid
	a, lost := s.serve(r)
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(a.status)
	if a.body != nil {
		_ = json.NewEncoder(w).Encode(a.body)
	}
}

// serve answers a request, or loses the answer.
func (s *Sim) serve(r *http.Request) (a answer, lost bool) {
	s.calls = append(s.calls, Call{Method: r.Method, Path: r.URL.Path})
	made := &s.calls[len(s.calls)-1]
	i := slices.IndexFunc(s.faults, func(f *Fault) bool { return f.Call == len(s.calls) })
	if i < 0 {
		a = s.handle(r)
		made.Status = a.status
		return a, false
	}
	f := s.faults[i]
	if f.After {
		s.handle(r)
	}
	if f.Then != nil {
		f.Then()
	}
	made.Status = f.Status
	return fail(f.Status, f.Code, strings.ToLower(strings.ReplaceAll(f.Code, "_", " "))), f.Status == 0
}

// handle checks the login and the limits, and answers.
func (s *Sim) handle(r *http.Request) answer {
	user, password, _ := r.BasicAuth()
	if subtle.ConstantTimeCompare([]byte(user+"\n"+password), []byte(s.o.User+"\n"+s.o.Password)) == 0 {
		s.failed++
		return fail(http.StatusUnauthorized, "UNAUTHORIZED", "Unauthorized")
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if a, over := s.limited(r.Method + " " + parts[0]); over {
		return a
	}
	s.settle()
	switch parts[0] {
	case "server":
		return s.withServer(parts, s.describeServer)
	case "boot":
		return s.withServer(parts, func(m *server) answer { return s.boot(r, parts, m) })
	case "reset":
		return s.withServer(parts, func(m *server) answer { return s.press(r, m) })
	case "key":
		return s.key(r, parts)
	}
	return fail(http.StatusNotFound, "NOT_FOUND", "Not found")
}

// limits are the requests that are let in within an hour; others are 500.
var limits = map[string]int{"GET server": 200, "POST reset": 50, "POST key": 200, "DELETE key": 200}

// limited counts a request.
func (s *Sim) limited(kind string) (answer, bool) {
	most := limits[kind]
	if most == 0 {
		most = 500
	}
	now := s.o.Clock.Now()
	s.used[kind] = slices.DeleteFunc(s.used[kind], func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(s.used[kind]) >= most && !s.o.NoLimits {
		return answer{http.StatusForbidden, map[string]problem{"error": {
			Status: http.StatusForbidden, Code: "RATE_LIMIT_EXCEEDED", Message: "rate limit exceeded", Most: most, Interval: 3600,
		}}}, true
	}
	s.used[kind] = append(s.used[kind], now)
	return answer{}, false
}
