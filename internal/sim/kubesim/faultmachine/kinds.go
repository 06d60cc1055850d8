package faultmachine

import (
	"net/http"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// Kind is a kind of fault: a word of the grammar.
type Kind = faultgrammar.Kind[*Machine, faultproxy.Effect]

// Grammar is all kinds of faults, in the order of the documentation, and what makes
// schedules of them.
func Grammar() faultgrammar.Grammar[*Machine, faultproxy.Effect] { return kinds }

// How many seconds something lasts at most.
const (
	mostPatience = 30  // that a 429 asks for
	mostLag      = 30  // that reads are behind
	mostAway     = 180 // that nobody serves the API
	mostSlow     = 29  // that an answer takes, below the client's patience for it
)

var kinds faultgrammar.Grammar[*Machine, faultproxy.Effect]

func init() {
	kinds = []Kind{
		{Name: "lost before its effect", Times: 1, Plain: faultproxy.LostBefore},
		{Name: "answer lost", Times: 1, Plain: faultproxy.LostAfter},
		{Name: "connection cut in the answer", Times: 1, Plain: faultproxy.CutOff},
		{Name: "answer empty", Times: 1, Plain: faultproxy.Empty},
		{Name: "answer cut", Times: 1, Plain: faultproxy.Cut},
		{Name: "page 404", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusNotFound))},
		{Name: "page 502", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusBadGateway))},
		{Name: "page 503", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusServiceUnavailable))},
		{Name: "page 504 after its effect", Times: 1, Plain: faultproxy.Same(faultproxy.PageAfter(http.StatusGatewayTimeout))},
		{Name: "no answer in time", Times: 1, Effect: silent(false)},
		{Name: "no answer in time after its effect", Times: 1, Effect: silent(true)},
		{Name: "slow", Times: 1, Longest: mostSlow, Effect: slow},
		{Name: "API away", Times: -1, Longest: mostAway, Effect: away},
		{Name: "clock ahead", Times: 1, Plain: faultproxy.Skewing(3*time.Hour, 3*time.Hour)},
		{Name: "clock back", Times: 1, Plain: faultproxy.Skewing(-3*time.Hour, -3*time.Hour)},
		{Name: "clock flaps", Times: -1, Plain: faultproxy.Skewing(3*time.Hour, -3*time.Hour)},
		{Name: "stale", Times: -1, Longest: mostLag, Operations: isRead, Effect: stale},
		{Name: "list in pages", Times: -1, Narrow: true, Operations: isList, Effect: pages(false)},
		{Name: "list expires", Times: 2, Narrow: true, Operations: isList, Effect: pages(true)},
		{Name: "group does not answer", Times: 1, Operations: isDiscovery, Plain: discovery(unfresh)},
		{Name: "groups not known yet", Times: 1, Operations: isDiscovery, Plain: discovery(builtinOnly)},
		{Name: "others touch", Times: 1, Operations: isObject, Effect: others((*Machine).touch)},
		{Name: "others edit", Times: 1, Operations: isObject, Effect: others((*Machine).edit)},
		{Name: "others delete", Times: 1, Operations: isObject, Effect: others((*Machine).remove)},
		{Name: "others delete the inventory", Times: 1, Operations: isWrite, Effect: others((*Machine).forget)},
	}
	for _, r := range refusals {
		kinds = append(kinds, Kind{Name: r.name, Times: max(1, r.times), Longest: r.longest, Operations: r.fits, Effect: r.effect})
	}
}

func isRead(operation string) bool { return strings.HasPrefix(operation, "GET ") }

func isDiscovery(operation string) bool { return operation == "GET /apis" }

func isList(operation string) bool {
	return isRead(operation) && strings.Count(operation, "/") >= 3 && !strings.HasSuffix(operation, "*")
}

// isObject reports whether an operation is on an object that has a name.
func isObject(operation string) bool {
	return strings.HasSuffix(operation, "/*") || strings.HasSuffix(operation, "/* (trial)")
}

func isWrite(operation string) bool {
	return !isRead(operation) && !strings.HasSuffix(operation, "(trial)")
}
