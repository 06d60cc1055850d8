package hetznersim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// walker makes random calls, most of which make sense.
type walker struct {
	sim *Sim
	r   *rand.Rand
}

func (w *walker) call(method, path, body string) (status int, answer map[string]any) {
	r := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.sim.Token())
	rec := httptest.NewRecorder()
	w.sim.ServeHTTP(rec, r)
	_ = json.Unmarshal(rec.Body.Bytes(), &answer)
	return rec.Code, answer
}

// some is the ID of one of a kind, or one that nothing has.
func (w *walker) some(kind string) int64 {
	_, answer := w.call(http.MethodGet, "/"+kind+"?per_page=50", "")
	list, _ := answer[kind].([]any)
	if len(list) == 0 {
		return 5
	}
	return int64(list[w.r.IntN(len(list))].(map[string]any)["id"].(float64))
}

// calls are what a walker does: a method, a path and a body, in which {kind} is
// the ID of one of a kind, and # a small number.
var calls = []string{
	`POST /networks {"name": "n#", "ip_range": "10.#.0.0/16", "subnets": [{"type": "cloud", "network_zone": "eu-central"}]}`,
	`POST /networks/{networks}/actions/add_subnet {"type": "cloud", "network_zone": "eu-central"}`,
	`POST /networks/{networks}/actions/add_route {"destination": "10.9#.0.0/16", "gateway": "10.#.0.9"}`,
	`DELETE /networks/{networks}`,
	`POST /placement_groups {"name": "g#", "type": "spread"}`,
	`DELETE /placement_groups/{placement_groups}`,
	`POST /firewalls {"name": "f#", "apply_to": [{"type": "label_selector", "label_selector": {"selector": "x=#"}}]}`,
	`POST /firewalls/{firewalls}/actions/set_rules {"rules": [{"direction": "in", "protocol": "icmp", "source_ips": ["10.0.0.0/8"]}]}`,
	`POST /firewalls/{firewalls}/actions/apply_to_resources {"apply_to": [{"type": "server", "server": {"id": {servers}}}]}`,
	`POST /firewalls/{firewalls}/actions/remove_from_resources {"remove_from": [{"type": "server", "server": {"id": {servers}}}]}`,
	`DELETE /firewalls/{firewalls}`,
	`POST /servers {"name": "s#", "server_type": "cx23", "image": "debian-13", "labels": {"x": "#"}, "networks": [{networks}]}`,
	`POST /servers {"name": "s#", "server_type": "cax11", "image": "debian-13", "placement_group": {placement_groups}, "start_after_create": false}`,
	`PUT /servers/{servers} {"labels": {"x": "#"}}`,
	`POST /servers/{servers}/actions/poweron`,
	`POST /servers/{servers}/actions/poweroff`,
	`POST /servers/{servers}/actions/shutdown`,
	`POST /servers/{servers}/actions/enable_rescue {}`,
	`POST /servers/{servers}/actions/create_image {"type": "snapshot"}`,
	`POST /servers/{servers}/actions/rebuild {"image": "{images}"}`,
	`POST /servers/{servers}/actions/change_type {"server_type": "cx33", "upgrade_disk": true}`,
	`POST /servers/{servers}/actions/attach_to_network {"network": {networks}}`,
	`POST /servers/{servers}/actions/change_alias_ips {"network": {networks}, "alias_ips": ["10.#.0.77"]}`,
	`POST /servers/{servers}/actions/detach_from_network {"network": {networks}}`,
	`POST /servers/{servers}/actions/add_to_placement_group {"placement_group": {placement_groups}}`,
	`DELETE /servers/{servers}`,
	`DELETE /images/{images}`,
	`POST /load_balancers {"name": "l#", "load_balancer_type": "lb11", "location": "fsn1", "network": {networks}}`,
	`POST /load_balancers/{load_balancers}/actions/add_service {"protocol": "tcp", "listen_port": 8#, "destination_port": 80}`,
	`POST /load_balancers/{load_balancers}/actions/update_service {"listen_port": 8#, "destination_port": 90}`,
	`POST /load_balancers/{load_balancers}/actions/delete_service {"listen_port": 8#}`,
	`POST /load_balancers/{load_balancers}/actions/add_target {"type": "server", "server": {"id": {servers}}, "use_private_ip": true}`,
	`POST /load_balancers/{load_balancers}/actions/remove_target {"type": "server", "server": {"id": {servers}}}`,
	`DELETE /load_balancers/{load_balancers}`,
	`POST /floating_ips {"type": "ipv6", "name": "i#", "home_location": "fsn1"}`,
	`POST /floating_ips/{floating_ips}/actions/assign {"server": {servers}}`,
	`POST /floating_ips/{floating_ips}/actions/unassign`,
	`DELETE /floating_ips/{floating_ips}`,
	`POST /primary_ips {"type": "ipv4", "name": "p#", "location": "fsn1", "assignee_type": "server"}`,
	`POST /primary_ips/{primary_ips}/actions/unassign`,
	`POST /primary_ips/{primary_ips}/actions/assign {"assignee_type": "server", "assignee_id": {servers}}`,
	`DELETE /primary_ips/{primary_ips}`,
	`POST /volumes {"name": "v#", "size": 10, "location": "fsn1"}`,
	`POST /volumes/{volumes}/actions/attach {"server": {servers}}`,
	`POST /volumes/{volumes}/actions/detach`,
	`DELETE /volumes/{volumes}`,
	`POST /zones {"name": "z#.com", "mode": "primary"}`,
	`POST /zones/{zones}/rrsets {"name": "r#", "type": "A", "records": [{"value": "10.0.0.#"}]}`,
	`POST /zones/{zones}/rrsets/r#/A/actions/add_records {"records": [{"value": "10.0.1.#"}]}`,
	`POST /zones/{zones}/rrsets/r#/A/actions/remove_records {"records": [{"value": "10.0.0.#"}]}`,
	`DELETE /zones/{zones}`,
}

// step makes one call, and lets some time go by.
func (w *walker) step() (string, int) {
	text := calls[w.r.IntN(len(calls))]
	for {
		from := strings.IndexByte(text, '#')
		if from < 0 {
			break
		}
		text = text[:from] + fmt.Sprint(1+w.r.IntN(4)) + text[from+1:]
	}
	for _, kind := range []string{"networks", "servers", "placement_groups", "firewalls", "images", "load_balancers", "floating_ips", "primary_ips", "volumes", "zones"} {
		if strings.Contains(text, "{"+kind+"}") {
			text = strings.ReplaceAll(text, "{"+kind+"}", fmt.Sprint(w.some(kind)))
		}
	}
	method, rest, _ := strings.Cut(text, " ")
	path, body, _ := strings.Cut(rest, " ")
	status, _ := w.call(method, path, body)
	w.sim.Clock().(*ScriptedClock).Advance(time.Duration(w.r.IntN(20)) * time.Second)
	return text, status
}

// everything is a state in words, down to what its rows point to.
func (st *state) everything() string {
	var out strings.Builder
	add := func(rows any) {
		text, err := json.Marshal(rows)
		if err != nil {
			panic(err)
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	add(st.balancers.rows)
	add(st.certificates.rows)
	add(st.firewalls.rows)
	add(st.floatingIPs.rows)
	add(st.groups.rows)
	add(st.images.rows)
	add(st.networks.rows)
	add(st.primaryIPs.rows)
	add(st.rrsets.rows)
	add(st.servers.rows)
	add(st.sshKeys.rows)
	add(st.volumes.rows)
	add(st.zones.rows)
	add(st.running)
	for _, a := range st.actions.rows {
		add(a.view(a.Created))
	}
	for _, s := range st.servers.rows {
		fmt.Fprintln(&out, s.Nets) // with their statuses
	}
	return out.String()
}

// TestRandomWalks: no call changes what a snapshot holds; a call that is refused
// changes nothing; whatever was done, the project is consistent; and from the
// same beginning the same calls give the same end.
func TestRandomWalks(t *testing.T) {
	accepted := 0
	for seed := range uint64(20) {
		w := &walker{New(Options{RateLimit: -1}), rand.New(rand.NewPCG(seed, 1))}
		var saved Snapshot
		var before string
		for i := range 200 {
			if i == 50 {
				saved = w.sim.Snapshot()
				before = saved.state.everything()
			}
			w.sim.Settle()
			last := w.sim.state.everything()
			text, status := w.step()
			if status < 300 {
				accepted++
			} else if now := w.sim.state.everything(); status >= 500 || now != last {
				t.Fatalf("seed %d: %s → %d changed the project\n%s\n%s", seed, text, status, last, now)
			}
			if err := w.sim.state.consistent(); err != nil {
				t.Fatalf("seed %d: after %s: %v", seed, text, err)
			}
		}
		if after := saved.state.everything(); after != before {
			t.Fatalf("seed %d: a snapshot has changed\n%s\n%s", seed, before, after)
		}
		w.sim.Restore(saved)
		if again := w.sim.Snapshot().state.everything(); again != before {
			t.Fatalf("seed %d: restored to something else", seed)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d calls of 4000 did something", accepted)
	}
}

// consistent says what is wrong with a state: nothing may refer to what does
// not exist, and no address may have two owners.
func (st *state) consistent() error {
	owners := map[string]string{}
	own := func(what, who string) error {
		if other := owners[what]; other != "" {
			return fmt.Errorf("%s belongs to %s and %s", what, other, who)
		}
		owners[what] = who
		return nil
	}
	for _, s := range st.servers.rows {
		for _, id := range []int64{s.IPv4, s.IPv6} {
			if p := st.primaryIPs.get(id); id != 0 && (p == nil || p.Of != s.ref()) {
				return fmt.Errorf("server %s has primary IP %d, which does not know it: %+v", s.Name, id, p)
			}
		}
		if s.Group != 0 && st.groups.get(s.Group) == nil {
			return fmt.Errorf("server %s is in group %d, which does not exist", s.Name, s.Group)
		}
	}
	for _, p := range st.primaryIPs.rows {
		if p.Of.Type == kindServer && st.servers.get(p.Of.ID) == nil {
			return fmt.Errorf("primary IP %s belongs to server %d, which does not exist", p.Name, p.Of.ID)
		}
	}
	for _, n := range st.networks.rows {
		for _, m := range st.members(n.ID) {
			if err := own(fmt.Sprint(n.ID, m.ip), fmt.Sprint(m.of)); err != nil {
				return err
			}
		}
	}
	for _, d := range st.volumes.rows {
		if d.Server != 0 && st.servers.get(d.Server) == nil {
			return fmt.Errorf("volume %s is at server %d, which does not exist", d.Name, d.Server)
		}
	}
	for _, s := range st.servers.rows {
		for _, n := range s.Nets {
			if st.networks.get(n.Network) == nil {
				return fmt.Errorf("server %s is in network %d, which does not exist", s.Name, n.Network)
			}
		}
	}
	for _, r := range st.rrsets.rows {
		if st.zones.get(r.Zone) == nil {
			return fmt.Errorf("records %s of a zone that does not exist", r.Name)
		}
	}
	return nil
}
