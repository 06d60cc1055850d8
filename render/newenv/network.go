package newenv

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// private are the ranges that networks are taken from.
var private = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16")}

// network is the private network of the new cluster: what is asked for, or the next one
// of the same size that no environment has.
func (a *adding) network(like netip.Prefix) (netip.Prefix, error) {
	used, err := a.used()
	if err != nil {
		return netip.Prefix{}, err
	}
	if a.Network != "" {
		given, err := netip.ParsePrefix(a.Network)
		if err != nil || given != given.Masked() || given.Bits() != like.Bits() {
			return given, diag.On("--network", "%q is no network as large as %s, that of %s", a.Network, like, a.Like).WithCode(diag.Usage)
		}
		if env := overlapping(used, given); env != "" {
			return given, diag.On("--network", "%s overlaps with that of %s", given, env).WithCode(diag.Usage)
		}
		return given, nil
	}
	if next := free(used, like); next.IsValid() {
		return next, nil
	}
	a.report.Notes = append(a.report.Notes, "no network as large as "+like.String()+" is free: it is that of "+a.Like+" too, so the two cannot be connected")
	return like, nil
}

// free is the next network of a size that no environment has: behind the one that the new
// one is like, or else anywhere.
func free(used map[string]netip.Prefix, like netip.Prefix) netip.Prefix {
	for _, from := range append([]netip.Prefix{like}, private...) {
		start, within := from.Addr(), from
		if from == like {
			i := slices.IndexFunc(private, like.Overlaps)
			if i < 0 {
				continue
			}
			within = private[i]
		}
		if like.Bits() < within.Bits() {
			continue
		}
		for at := start; within.Contains(at); at = after(at, like.Bits()) {
			if next := netip.PrefixFrom(at, like.Bits()); overlapping(used, next) == "" {
				return next
			}
		}
	}
	return netip.Prefix{}
}

// used are the private networks of all environments at Hetzner Cloud, by their names.
func (a *adding) used() (map[string]netip.Prefix, error) {
	used := map[string]netip.Prefix{}
	envs, err := a.src.Environments()
	if err != nil {
		return nil, err
	}
	for _, env := range envs {
		part, err := a.src.ReadPart(env, source.ClusterFile, clusterEnv, source.SecretsName)
		if err != nil {
			return nil, err
		}
		vars, err := part.Variables(&source.Secrets{Variables: part.SecretVariables()})
		if err != nil {
			return nil, err
		}
		file := part.File(source.ClusterFile)
		c, err := config.Load(file, part.Raw, &subst.Scope{Vars: vars})
		if err != nil {
			return nil, err
		}
		if network, err := netip.ParsePrefix(c.Network.CIDR); err == nil {
			used[env] = network
		}
	}
	return used, nil
}

// overlapping is an environment whose network has addresses of another one.
func overlapping(used map[string]netip.Prefix, with netip.Prefix) string {
	for env, network := range used {
		if network.Overlaps(with) {
			return env
		}
	}
	return ""
}

// after is the first address behind a network that begins with at; none at the end.
func after(at netip.Addr, bits int) netip.Addr {
	n := uint64(number(at)) + 1<<(32-bits)
	if n > 1<<32-1 {
		return netip.Addr{}
	}
	return address(uint32(n))
}

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}

// moving moves addresses from one network to another of the same size.
type moving struct{ from, to netip.Prefix }

// ipv4 is an address in a text, with what stands around it.
var ipv4 = regexp.MustCompile(`(^|[^0-9A-Za-z.])([0-9]{1,3}(?:\.[0-9]{1,3}){3})\b`)

// text moves all addresses in a text.
func (m moving) text(text string) string {
	if !m.from.IsValid() {
		return text
	}
	return ipv4.ReplaceAllStringFunc(text, func(found string) string {
		parts := ipv4.FindStringSubmatch(found)
		addr, err := netip.ParseAddr(parts[2])
		if err != nil || !m.from.Contains(addr) {
			return found
		}
		return parts[1] + address(number(addr)-number(m.from.Addr())+number(m.to.Addr())).String()
	})
}
