package hetznersim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options say how a simulator behaves. The zero value is the API as it is.
type Options struct {
	// Clock is the time. Nil is a [ScriptedClock] that stands at noon of
	// 2026-11-01, UTC.
	Clock Clock
	// Token may do everything; empty is a token that [Sim.Token] tells.
	Token string
	// ReadOnlyToken may only read; empty for none.
	ReadOnlyToken string
	// RateLimit is how many requests an hour allows; 0 is Hetzner's 3600, a
	// negative one is none.
	RateLimit int
	// ActionTime is how long an action takes, by its command. Nil is
	// [DefaultActionTime]. With [Instant], an action runs when the call that
	// began it is answered, and has ended when the next one arrives.
	ActionTime func(command string) time.Duration
	// PerCall moves a ScriptedClock at the beginning of each call, so that a
	// client which waits in real time sees actions end.
	PerCall time.Duration
	// Limits are those of the project.
	Limits Limits
	// Machines hears of what happens to servers; nil for nobody.
	Machines Machines
	// FirstPublicIPv4 is the first public address that is given away, in a range
	// of some ten thousand. Unset it is 198.18.0.1, in a range that nobody on the
	// internet has; one such as 127.64.0.1 lets something on this machine stand in.
	FirstPublicIPv4 netip.Addr
	// RescaledStaysOff leaves a server off after change_type. The description says
	// that it is started again.
	RescaledStaysOff bool
	// DedicatedIPs are addresses of dedicated servers of the same owner, which can
	// be targets of load balancers.
	DedicatedIPs []string
	// OldLoadBalancerDelete answers the deletion of a load balancer with 204 and
	// no action, as the API did before 2026-10-05.
	OldLoadBalancerDelete bool
}

// HourlyLimit is the rate limit of a Hetzner Cloud project in requests per hour.
const HourlyLimit = 3600

// Sim is a simulated project. It may be used by several goroutines.
type Sim struct {
	cfg    Options
	router *router

	mu     sync.Mutex
	state  *state
	calls  []Call
	faults []*Fault
	count  int // calls since the last ResetCalls

	deliver sync.Mutex // held while events are told to Machines, in order
}

// New returns a project without resources, but for system images.
func New(o Options) *Sim {
	if o.Clock == nil {
		o.Clock = NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	}
	if o.Token == "" {
		o.Token = strings.Repeat("simulated-token-", 4)
	}
	if o.RateLimit == 0 {
		o.RateLimit = HourlyLimit
	}
	if o.ActionTime == nil {
		o.ActionTime = DefaultActionTime
	}
	if !o.FirstPublicIPv4.IsValid() {
		o.FirstPublicIPv4 = firstPublicIPv4
	}
	s := &Sim{cfg: o, router: newRouter(routes()), state: newState(o)}
	if connected, is := o.Machines.(Networked); is {
		connected.Project(s)
	}
	return s
}

// Token is the token that may do everything.
func (s *Sim) Token() string { return s.cfg.Token }

// Clock is the simulator's clock.
func (s *Sim) Clock() Clock { return s.cfg.Clock }

// correlation spreads the numbers of calls over the 64 bits of the IDs by which
// Hetzner's support finds a call; it is odd, so that no two calls share one.
const correlation = 0x9e3779b97f4a7c15

// maxBody is more than any request of the API needs: one with user data of 32
// KiB in JSON.
const maxBody = 1 << 20

// ServeHTTP answers a request to the API, whose paths begin with /v1.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client has gone away, or talks nonsense: there is nobody to answer
	}
	a := s.answer(r, body)
	if a.fault != nil && a.fault.Then != nil {
		a.fault.Then()
	}
	s.notify()
	if a.fault != nil && !a.fault.As.allowAnswer(r.Context(), s.cfg.Clock) {
		panic(http.ErrAbortHandler)
	}
	a.write(w)
}

// Settle lets everything happen that is due, as the next call would.
func (s *Sim) Settle() {
	s.mu.Lock()
	s.state.settle(s.cfg.Clock.Now())
	s.mu.Unlock()
	s.notify()
}

// answer is what a request gets.
type answer struct {
	header http.Header
	status int
	body   any
	fault  *Fault // what strikes the request, if anything does
}

// answer handles a request within the lock.
func (s *Sim) answer(r *http.Request, body []byte) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, scripted := s.cfg.Clock.(*ScriptedClock); scripted && s.cfg.PerCall > 0 {
		c.Advance(s.cfg.PerCall)
	}
	now := s.cfg.Clock.Now()
	s.state.settle(now)
	s.count++
	a := answer{header: http.Header{}}
	rep, err := s.handle(r, body, now, &a)
	if wrong, is := err.(*apiError); is {
		rep = reply{wrong.Status, obj{"error": wrong}}
	}
	a.status, a.body = rep.status, rep.body
	a.header.Set("Date", now.UTC().Format(http.TimeFormat))
	a.header.Set("X-Correlation-Id", fmt.Sprintf("%016x", correlation*uint64(s.count)))
	s.log(r, now, a, err)
	return a
}

// handle checks a request and lets its route answer. Its errors are *apiError.
func (s *Sim) handle(r *http.Request, body []byte, now time.Time, a *answer) (reply, error) {
	path, versioned := strings.CutPrefix(r.URL.Path, "/v1/")
	if !versioned {
		return reply{}, fail("not_found", "api route not found")
	}
	route, vars, err := s.router.match(r.Method, path)
	if err != nil {
		return reply{}, err
	}
	if err := s.authorize(r); err != nil {
		return reply{}, err
	}
	if err := s.limit(now, a.header); err != nil {
		return reply{}, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return reply{}, fail("invalid_input", "invalid query: %v", err)
	}
	a.fault = s.strike(r.Method, "/"+path)
	if a.fault != nil && a.fault.When == BeforeEffect && a.fault.As.instead() {
		return a.fault.As.reply(reply{}, nil)
	}
	c := &call{cfg: &s.cfg, st: s.state, now: now, route: route.method + " " + route.path, vars: vars, query: query, body: body, url: "http://" + r.Host + r.URL.Path}
	if a.fault != nil && a.fault.As.kind == asActionError {
		c.actionFault = a.fault.As.action
	}
	if a.fault != nil && a.fault.As.kind == asActionLate {
		c.actionLate = a.fault.As.delay
	}
	rep, err := s.run(c, route)
	if c.link != "" {
		a.header.Set("Link", c.link)
	}
	if a.fault != nil {
		return a.fault.As.reply(rep, err)
	}
	return rep, err
}

// run lets a route answer. If it fails, the state is what it was.
func (s *Sim) run(c *call, r *route) (reply, error) {
	if r.method == http.MethodGet {
		return r.handle(c)
	}
	c.st = s.state.clone()
	rep, err := r.handle(c)
	if err == nil {
		s.state = c.st
	}
	return rep, err
}

// authorize checks the token of a request.
func (s *Sim) authorize(r *http.Request) error {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !found || token == "":
		return fail("unauthorized", "token is required")
	case token == s.cfg.Token:
		return nil
	case token != s.cfg.ReadOnlyToken:
		return fail("unauthorized", "the token you have provided is invalid")
	case r.Method != http.MethodGet:
		return fail("forbidden", "insufficient permissions for this request")
	}
	return nil
}

// limit takes a request from the rate limit, and tells in headers what is left.
func (s *Sim) limit(now time.Time, h http.Header) error {
	limit := s.cfg.RateLimit
	if limit < 0 {
		return nil
	}
	var allowed bool
	s.state.rate, allowed = s.state.rate.charge(limit, now)
	s.state.rate.headers(h, limit)
	if !allowed {
		return fail("rate_limit_exceeded", "limit of %d requests per hour reached", limit)
	}
	return nil
}

// write sends an answer.
func (a answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic("hetznersim: an answer that is no JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(text) // the client may have gone away
}
