package cloud

import "net/netip"

// parsePrefix reads a range; a text that is none is an invalid prefix, which
// equals and contains nothing.
func parsePrefix(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}

func samePrefix(a, b string) bool {
	return a == b || parsePrefix(a).IsValid() && parsePrefix(a) == parsePrefix(b)
}

// prefixContains reports whether the range outer holds all of inner.
func prefixContains(outer, inner string) bool {
	o, i := parsePrefix(outer), parsePrefix(inner)
	return o.IsValid() && i.IsValid() && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}

func overlap(a, b string) bool {
	x, y := parsePrefix(a), parsePrefix(b)
	return x.IsValid() && y.IsValid() && x.Overlaps(y)
}

// inRange reports whether a range holds an address.
func inRange(prefix, address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && parsePrefix(prefix).Contains(a)
}
