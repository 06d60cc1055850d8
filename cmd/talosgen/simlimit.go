package main

import (
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// projectLimits reads the limits of a simulated project, such as servers=5, and that of
// its requests in an hour, which is 0 if none is given.
func projectLimits(texts []string) (l hetznersim.Limits, requests int, err error) {
	kinds := map[string]*int{
		"servers": &l.Servers, "cores": &l.Cores, "primary-ips": &l.PrimaryIPs, "load-balancers": &l.LoadBalancers,
		"networks": &l.Networks, "firewalls": &l.Firewalls, "floating-ips": &l.FloatingIPs, "volumes": &l.Volumes, "snapshots": &l.Snapshots,
		"requests": &requests,
	}
	for _, text := range texts {
		kind, number, _ := strings.Cut(text, "=")
		limit, known := kinds[kind]
		n, err := strconv.Atoi(number)
		if !known || err != nil || n < 1 {
			return l, 0, diag.On("--"+flagLimit, "%q is no limit", text).WithCode(diag.Usage).
				WithHint("for example cores=8; kinds: cores, firewalls, floating-ips, load-balancers, networks, primary-ips, requests (in an hour), servers, snapshots, volumes")
		}
		*limit = n
	}
	return l, requests, nil
}
