package faultmachine

import (
	"fmt"
	"net/http"
	"time"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

// Kind is a kind of fault: a word of the grammar.
type Kind = faultgrammar.Kind[*Machine, faultproxy.Effect]

// Grammar is all kinds of faults, in the order of the documentation, and what makes
// schedules of them.
func Grammar() faultgrammar.Grammar[*Machine, faultproxy.Effect] { return kinds }

// mostSeconds is how long delays are at most, below the client's patience for a call.
const mostSeconds = 59

// mostLag is how many seconds reads can be behind.
const mostLag = 30

var kinds faultgrammar.Grammar[*Machine, faultproxy.Effect]

func init() {
	kinds = []Kind{
		{Name: "lost before its effect", Times: 1, Plain: faultproxy.LostBefore},
		{Name: "answer lost", Times: 1, Plain: faultproxy.LostAfter},
		{Name: "answer empty", Times: 1, Plain: faultproxy.Empty},
		{Name: "answer cut", Times: 1, Plain: faultproxy.Cut},
		{Name: "page 502", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusBadGateway))},
		{Name: "page 503", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusServiceUnavailable))},
		{Name: "page 504", Times: 1, Plain: faultproxy.Same(faultproxy.Page(http.StatusGatewayTimeout))},
		{Name: "page 504 after its effect", Times: 1, Plain: faultproxy.Same(faultproxy.PageAfter(http.StatusGatewayTimeout))},
	}
	for _, c := range codes {
		kinds = append(kinds, Kind{Name: fmt.Sprintf("%d %s", c.status, c.name), Times: 1, Operations: c.fits,
			Plain: faultproxy.Same(refused(c))})
	}
	kinds = append(unique(kinds), []Kind{
		{Name: "action fails", Times: 1, Operations: acts, Effect: sim(hetznersim.ActionError("action_failed", "Action failed"))},
		{Name: "action late", Times: 1, Operations: acts, Effect: sim(hetznersim.ActionLate(5 * time.Minute))},
		{Name: "action stays", Times: 1, Operations: acts, Effect: sim(hetznersim.ActionLate(45 * time.Minute))},
		{Name: "slow", Times: 1, Longest: mostSeconds, Effect: slow},
		{Name: "clock ahead", Times: 1, Plain: faultproxy.Skewing(3*time.Hour, 3*time.Hour)},
		{Name: "clock back", Times: 1, Plain: faultproxy.Skewing(-3*time.Hour, -3*time.Hour)},
		{Name: "clock flaps", Times: -1, Plain: faultproxy.Skewing(3*time.Hour, -3*time.Hour)},
		{Name: "rate limit gone", Times: 10, Effect: limitGone},
		{Name: "stale", Times: -1, Longest: mostLag, Operations: isRead, Effect: stale},
		{Name: "selector lags", Times: -1, Narrow: true, Longest: mostLag, Operations: isList, Effect: lag},
		{Name: "list shifts", Times: -1, Narrow: true, Operations: isList, Effect: shift},
		{Name: "others switch off", Times: 1, Operations: isRead, Effect: others(switchOff)},
		{Name: "others change rules", Times: 1, Operations: isRead, Effect: others(changeRules)},
		{Name: "others delete", Times: 1, Operations: isRead, Effect: others(deleteGroup)},
		{Name: "others make", Times: 1, Operations: isRead, Effect: others(makeGroup)},
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
		before := once[i].Operations
		once[i].Operations = func(o string) bool { return before(o) || k.Operations(o) }
	}
	return once
}

func isRead(operation string) bool { return operation[:4] == "GET " }
