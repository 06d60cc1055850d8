package execute_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
)

// everywhere is every list of a project.
var everywhere = []string{
	"networks", "firewalls", "placement_groups", "servers", "load_balancers", "floating_ips", "primary_ips",
	"volumes", "ssh_keys", "certificates", "images?type=snapshot", "zones/" + plantest.Zone + "/rrsets",
}

// fingerprint is everything that a project holds, whoever it belongs to: equal
// for equal projects, however they came to be. Ids are replaced by names,
// addresses that Hetzner chooses by #.
func (p *project) fingerprint() string {
	p.Helper()
	p.clock.Advance(10 * time.Second) // by then label selectors have noticed every server
	names := map[float64]string{}
	lists := map[string][]map[string]any{}
	for _, what := range everywhere {
		lists[what] = p.list(what)
		for _, o := range lists[what] {
			if id, ok := o["id"].(float64); ok {
				names[id] = generated.ReplaceAllString(fmt.Sprint(o["name"]), "#")
			}
		}
	}
	var lines []string
	for what, list := range lists {
		for _, o := range list {
			plain(what, o)
			text, err := json.Marshal(normal("", o, names))
			if err != nil {
				p.Fatal(err)
			}
			lines = append(lines, what+" "+string(text))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// plain takes away in which of two equal ways something was done. A firewall is
// at a server by its selector, or also by itself: what counts is that it is
// there, which the server says. An address comes with a server, or was given to
// it later.
func plain(what string, o map[string]any) {
	switch what {
	case "firewalls":
		var selectors []any
		for _, a := range o["applied_to"].([]any) {
			if by := a.(map[string]any); by["type"] == "label_selector" {
				selectors = append(selectors, by["label_selector"])
			}
		}
		o["applied_to"] = selectors
	case "primary_ips":
		if o["assignee_id"] != nil {
			delete(o, "name")
			delete(o, "labels")
			delete(o, "id")
		}
	}
}

// list reads a whole list, as somebody else.
func (p *project) list(what string) (all []map[string]any) {
	p.Helper()
	for page := 1; page > 0; {
		sep := "?"
		if strings.Contains(what, "?") {
			sep = "&"
		}
		req, err := p.others.NewRequest(p.Context(), http.MethodGet, fmt.Sprintf("/%s%sper_page=50&page=%d", what, sep, page), nil)
		if err != nil {
			p.Fatal(err)
		}
		resp, err := p.http.RoundTrip(req)
		if err != nil {
			p.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			p.Fatal(err)
		}
		if resp.StatusCode == http.StatusNotFound {
			return nil // the simulator does not have it
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(body, &answer); err != nil {
			p.Fatalf("%s: %v", body, err)
		}
		page = 0
		for key, value := range answer {
			if key == "meta" {
				var meta struct {
					Pagination struct {
						Next int `json:"next_page"`
					}
				}
				if err := json.Unmarshal(value, &meta); err != nil {
					p.Fatal(err)
				}
				page = meta.Pagination.Next
				continue
			}
			var items []map[string]any
			if err := json.Unmarshal(value, &items); err != nil {
				p.Fatalf("%s: %s", what, body)
			}
			all = append(all, items...)
		}
	}
	return all
}

// noise are fields that tell when and by which way something came to be.
var noise = []string{"created", "changed", "mac_address", "health_status", "prices", "server_type", "load_balancer_type", "location",
	"home_location", "image", "fingerprint", "public_key", "network_zone", "ingoing_traffic", "outgoing_traffic", "root_password", "linux_device"}

// chosen are fields that hold what Hetzner chose.
var chosen = regexp.MustCompile(`^(dns_ptr|value|blocked|gateway4)$`)

func normal(key string, v any, names map[float64]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			switch {
			case (k == "server_type" || k == "location" || k == "image" || k == "home_location") && x != nil:
				if m, ok := x.(map[string]any); ok {
					out[k] = m["name"]
				}
			case slices.Contains(noise, k):
			case k == "id" && (key == "ipv4" || key == "ipv6"):
			case k == "ip" && (key == "ipv4" || key == "ipv6" || out["assignee_id"] != nil || v["home_location"] != nil || v["auto_delete"] != nil || v["dns_ptr"] != nil):
				out[k] = "#"
			default:
				out[k] = normal(k, x, names)
			}
		}
		return out
	case []any:
		var list []string
		for _, x := range v {
			text, err := json.Marshal(normal(key, x, names))
			if err != nil {
				panic(err)
			}
			list = append(list, string(text))
		}
		slices.Sort(list) // no list of the API has an order that means something
		return list
	case float64:
		if name, known := names[v]; known && v > 1000 || key == "id" {
			return "id of " + name
		}
		return v
	case string:
		if chosen.MatchString(key) {
			return digits.ReplaceAllString(v, "#")
		}
		return generated.ReplaceAllString(v, "#")
	}
	return v
}

var (
	digits    = regexp.MustCompile(`[0-9a-f:.]+`)
	generated = regexp.MustCompile(`primary_ip-[0-9]+|primary-ip-[0-9]+`)
)

// differences are the lines that only one of two fingerprints has.
func differences(got, want string) string {
	var b strings.Builder
	lines := func(sign, of, other string) {
		for line := range strings.Lines(of) {
			if !strings.Contains(other, line) {
				b.WriteString(sign + line)
			}
		}
	}
	lines("- ", want, got)
	lines("+ ", got, want)
	return b.String()
}
