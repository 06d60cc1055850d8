package cloud

import (
	"math/big"
	"strings"
)

// amount is a price to calculate with. The API gives net and gross; both are
// added up as they are, so that no rounding of ours comes in between.
type amount struct{ net, gross *big.Rat }

func none() amount { return amount{new(big.Rat), new(big.Rat)} }

// amountOf reads a price; false if it is none.
func amountOf(p Price) (amount, bool) {
	net, ok1 := new(big.Rat).SetString(p.Net)
	gross, ok2 := new(big.Rat).SetString(p.Gross)
	if !ok1 || !ok2 {
		return none(), false
	}
	return amount{net, gross}, true
}

func (a amount) plus(b amount) amount {
	return amount{new(big.Rat).Add(a.net, b.net), new(big.Rat).Add(a.gross, b.gross)}
}

func (a amount) times(f *big.Rat) amount {
	return amount{new(big.Rat).Mul(a.net, f), new(big.Rat).Mul(a.gross, f)}
}

func (a amount) price() Price { return Price{decimal(a.net), decimal(a.gross)} }

// decimal writes an amount with all its digits, two at least.
func decimal(r *big.Rat) string {
	text := r.FloatString(10)
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return whole + "." + fraction
}

// Rounded is the price with two digits, for people.
func (p Price) Rounded() Price { return Price{cents(p.Net), cents(p.Gross)} }

// cents rounds a price to two digits, for people.
func cents(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "?"
	}
	return r.FloatString(2)
}
