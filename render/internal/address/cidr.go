package address

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"
)

// subnet returns the subnet number n of a range, after its prefix is made
// longer by bits. It is what Terraform calls cidrsubnet.
func subnet(of netip.Prefix, bits, n int) (netip.Prefix, error) {
	length := of.Bits() + bits
	if !of.Addr().Is4() || length > 32 || n < 0 || n >= 1<<bits {
		return netip.Prefix{}, fmt.Errorf("%s has no subnet number %d with a prefix longer by %d", of, n, bits)
	}
	base := number(of.Masked().Addr())
	return netip.PrefixFrom(address(base+uint32(n)<<(32-length)), length), nil
}

// Parts are the subnets of a range with a prefix length, in order.
func Parts(of netip.Prefix, length int) iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		bits := length - of.Bits()
		if bits < 0 {
			return
		}
		for n := range 1 << bits {
			if p, err := subnet(of, bits, n); err != nil || !yield(p) {
				return
			}
		}
	}
}

// host returns the address number n of a range; negative numbers count from its
// end, so that -1 is the broadcast address.
func host(of netip.Prefix, n int) (netip.Addr, error) {
	size := 1 << (32 - of.Bits())
	if n < 0 {
		n += size
	}
	if n < 0 || n >= size {
		return netip.Addr{}, fmt.Errorf("%s has no address number %d", of, n)
	}
	return address(number(of.Masked().Addr()) + uint32(n)), nil
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}
