package cloud

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// Write prints what changes in the price of a month, and the sums; nothing, if there
// is nothing that costs. What stays as it is only is in the sums.
func (c *Cost) Write(w *plan.Printer) {
	if len(c.Lines)+len(c.Unknown) == 0 {
		return
	}
	w.Blank()
	w.Line(0, "cost of a month in %s, net (gross with %s %% VAT):", c.Currency, trimZeros(c.VATRate))
	for _, l := range c.Lines {
		switch {
		case l.Before == l.After:
		case l.After == Price{}:
			w.Line(2, "-%8s (%s)  %s: %s", cents(l.Before.Net), cents(l.Before.Gross), l.Key, l.What)
		default:
			w.Line(2, "+%8s (%s)  %s: %s", cents(l.After.Net), cents(l.After.Gross), l.Key, l.What)
		}
	}
	if c.Changes() {
		w.Line(2, "before %s (%s), after %s (%s): %s (%s)", cents(c.Before.Net), cents(c.Before.Gross),
			cents(c.After.Net), cents(c.After.Gross), difference(c.Before.Net, c.After.Net), difference(c.Before.Gross, c.After.Gross))
	} else {
		w.Line(2, "%s (%s), as before", cents(c.After.Net), cents(c.After.Gross))
	}
	if c.Most != (Price{}) {
		w.Line(2, "at most %s (%s), when the autoscaler has made all the servers that it may", cents(c.Most.Net), cents(c.Most.Gross))
	}
	for _, what := range c.Unknown {
		w.Line(2, "the price of %s is not known; it is not in the sums", what)
	}
	if c.IncludedTraffic > 0 && c.Changes() {
		w.Line(2, "%s of outgoing traffic are included; more is paid on top", traffic(c.IncludedTraffic))
	}
}

// Changes reports whether a plan changes the price of a month, or may, because the
// autoscaler does.
func (c *Cost) Changes() bool {
	for _, l := range c.Lines {
		if l.Before != l.After {
			return true
		}
	}
	return false
}

// Difference is how much more a month costs after the changes, net, with its sign
// and two digits: +10.99. Empty if no prices are known.
func (c *Cost) Difference() string {
	if c.Currency == "" {
		return ""
	}
	return difference(c.Before.Net, c.After.Net)
}

// traffic writes bytes as Hetzner sells them, by the TB of 1024^4.
func traffic(bytes uint64) string {
	const tb = 1 << 40
	return strconv.FormatFloat(float64(bytes)/tb, 'f', -1, 64) + " TB"
}

func trimZeros(decimal string) string {
	if !strings.Contains(decimal, ".") {
		return decimal
	}
	return strings.TrimRight(strings.TrimRight(decimal, "0"), ".")
}

// difference of two prices, rounded, with its sign.
func difference(before, after string) string {
	b, ok1 := new(big.Rat).SetString(before)
	a, ok2 := new(big.Rat).SetString(after)
	if !ok1 || !ok2 {
		return "?"
	}
	text := a.Sub(a, b).FloatString(2)
	if strings.HasPrefix(text, "-") && text != "-0.00" {
		return text
	}
	return "+" + strings.TrimPrefix(text, "-")
}
