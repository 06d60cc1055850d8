package faultmachine

import (
	"fmt"
	"net/http"
	"time"

	"github.com/talosgen/talosgen/internal/hetznersim"
	"github.com/talosgen/talosgen/internal/hetznersim/faultproxy"
)

// Kind is a kind of fault: a word of the grammar.
type Kind struct {
	Name  string
	Times int // how many calls it strikes; a negative number is all from then on

	timed  bool // it lasts some seconds
	fits   func(operation string) bool
	effect func(*Machine, Fault) faultproxy.Effect
}

// Kinds are all kinds of faults, in the order of the documentation.
func Kinds() []Kind { return kinds }

// Fits reports whether a fault of the kind can strike an operation.
func (k Kind) Fits(operation string) bool { return k.fits == nil || k.fits(operation) }

// kindOf finds a kind by its name.
func kindOf(name string) Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	panic("faultmachine: there is no kind " + name)
}

var kinds []Kind

func init() {
	plain := func(e func() faultproxy.Effect) func(*Machine, Fault) faultproxy.Effect {
		return func(*Machine, Fault) faultproxy.Effect { return e() }
	}
	kinds = []Kind{
		{Name: "lost before its effect", Times: 1, effect: plain(faultproxy.LostBefore)},
		{Name: "answer lost", Times: 1, effect: plain(faultproxy.LostAfter)},
		{Name: "answer empty", Times: 1, effect: plain(faultproxy.Empty)},
		{Name: "answer cut", Times: 1, effect: plain(faultproxy.Cut)},
		{Name: "page 502", Times: 1, effect: plain(func() faultproxy.Effect { return faultproxy.Page(http.StatusBadGateway) })},
		{Name: "page 503", Times: 1, effect: plain(func() faultproxy.Effect { return faultproxy.Page(http.StatusServiceUnavailable) })},
		{Name: "page 504", Times: 1, effect: plain(func() faultproxy.Effect { return faultproxy.Page(http.StatusGatewayTimeout) })},
		{Name: "page 504 after its effect", Times: 1, effect: plain(pageAfter)},
	}
	for _, c := range codes {
		kinds = append(kinds, Kind{Name: fmt.Sprintf("%d %s", c.status, c.name), Times: 1, fits: c.fits,
			effect: plain(func() faultproxy.Effect { return refused(c) })})
	}
	kinds = append(unique(kinds), []Kind{
		{Name: "action fails", Times: 1, fits: acts, effect: sim(hetznersim.ActionError("action_failed", "Action failed"))},
		{Name: "action late", Times: 1, fits: acts, effect: sim(hetznersim.ActionLate(5 * time.Minute))},
		{Name: "action stays", Times: 1, fits: acts, effect: sim(hetznersim.ActionLate(45 * time.Minute))},
		{Name: "slow", Times: 1, timed: true, effect: slow},
		{Name: "clock ahead", Times: 1, effect: skew(3*time.Hour, 3*time.Hour)},
		{Name: "clock back", Times: 1, effect: skew(-3*time.Hour, -3*time.Hour)},
		{Name: "clock flaps", Times: -1, effect: skew(3*time.Hour, -3*time.Hour)},
		{Name: "rate limit gone", Times: 10, effect: limitGone},
		{Name: "stale", Times: -1, timed: true, fits: isRead, effect: stale},
		{Name: "selector lags", Times: -1, timed: true, fits: isList, effect: lag},
		{Name: "list shifts", Times: -1, fits: isList, effect: shift},
		{Name: "others switch off", Times: 1, fits: isRead, effect: others(switchOff)},
		{Name: "others change rules", Times: 1, fits: isRead, effect: others(changeRules)},
		{Name: "others delete", Times: 1, fits: isRead, effect: others(deleteGroup)},
		{Name: "others make", Times: 1, fits: isRead, effect: others(makeGroup)},
	}...)
}

// unique leaves out what has the name of one before, which has fewer calls: their
// calls are of both.
func unique(all []Kind) (once []Kind) {
	at := map[string]int{}
	for _, k := range all {
		i, is := at[k.Name]
		if !is {
			at[k.Name], once = len(once), append(once, k)
			continue
		}
		before := once[i].fits
		once[i].fits = func(o string) bool { return before(o) || k.fits(o) }
	}
	return once
}

func isRead(operation string) bool { return operation[:4] == "GET " }
