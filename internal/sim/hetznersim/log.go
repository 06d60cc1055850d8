package hetznersim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Call is a request that the simulator has seen.
type Call struct {
	Number int // from 1
	Time   time.Time
	Method string
	Path   string // without /v1
	Query  string // as sent
	Status int    // 0 if a fault left the client without an answer
	Code   string // of the error, if it was one
}

// String is the call in one line: "POST /servers 201".
func (c Call) String() string {
	text := c.Method + " " + c.Path
	if c.Query != "" {
		text += "?" + c.Query
	}
	if c.Status == 0 {
		return text + " lost"
	}
	text += " " + strconv.Itoa(c.Status)
	if c.Code != "" {
		text += " " + c.Code
	}
	return text
}

// Calls returns the calls since New or the last ResetCalls.
func (s *Sim) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ResetCalls empties the log of calls and counts from 1 again.
func (s *Sim) ResetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.count = nil, 0
}

func (s *Sim) log(r *http.Request, now time.Time, a answer, err error) {
	c := Call{Number: s.count, Time: now, Method: r.Method, Status: a.status,
		Path: strings.TrimPrefix(r.URL.Path, "/v1"), Query: r.URL.RawQuery}
	if a.fault != nil && (a.fault.As.kind == asDrop || a.fault.As.kind == asHang) {
		c.Status = 0
	}
	if wrong, is := err.(*apiError); is {
		c.Code = wrong.Code
	}
	s.calls = append(s.calls, c)
}
