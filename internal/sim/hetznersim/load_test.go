package hetznersim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// lists are what can be read of a project, by path.
var lists = strings.Fields(`locations server_types load_balancer_types networks placement_groups ssh_keys images
	certificates primary_ips servers floating_ips firewalls volumes load_balancers zones`)

// TestLoad reads a project, loads what it said into another one, and reads that.
func TestLoad(t *testing.T) {
	clock := hetznersim.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	one := hetznersim.New(hetznersim.Options{Clock: clock, ActionTime: hetznersim.Instant})
	one.AddVSwitch(4711)
	ask := func(s *hetznersim.Sim, method, path, body string) map[string]json.RawMessage {
		t.Helper()
		r := httptest.NewRequest(method, "/v1/"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+s.Token())
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	id := func(answer map[string]json.RawMessage, kind string) (id int64) {
		t.Helper()
		var head struct{ ID int64 }
		if err := json.Unmarshal(answer[kind], &head); err != nil {
			t.Fatal(err)
		}
		return head.ID
	}
	network := id(ask(one, "POST", "networks", `{"name":"n","ip_range":"10.0.0.0/16","labels":{"a":"b"},"subnets":[{"type":"cloud","ip_range":"10.0.1.0/24","network_zone":"eu-central"},{"type":"vswitch","ip_range":"10.0.2.0/24","network_zone":"eu-central","vswitch_id":4711}]}`), "network")
	group := id(ask(one, "POST", "placement_groups", `{"name":"g","type":"spread"}`), "placement_group")
	server := id(ask(one, "POST", "servers", fmt.Sprintf(`{"name":"s","server_type":"cpx22","image":"debian-13","location":"hel1","labels":{"role":"x"},"placement_group":%d,"networks":[%d]}`, group, network)), "server")
	ask(one, "POST", fmt.Sprintf("networks/%d/actions/add_route", network), `{"destination":"0.0.0.0/0","gateway":"10.0.1.1"}`)
	ask(one, "POST", "firewalls", `{"name":"f","rules":[{"direction":"in","protocol":"tcp","port":"22","source_ips":["0.0.0.0/0"]}],"apply_to":[{"type":"label_selector","label_selector":{"selector":"role=x"}}]}`)
	ask(one, "POST", "volumes", fmt.Sprintf(`{"name":"v","size":10,"server":%d}`, server))
	ask(one, "POST", "floating_ips", fmt.Sprintf(`{"name":"i","type":"ipv4","server":%d}`, server))
	ask(one, "POST", "load_balancers", fmt.Sprintf(`{"name":"l","load_balancer_type":"lb11","location":"hel1","network":%d,"services":[{"protocol":"tcp","listen_port":6443,"destination_port":6443}],"targets":[{"type":"server","server":{"id":%d},"use_private_ip":true}]}`, network, server))
	zone := id(ask(one, "POST", "zones", `{"name":"example.com","mode":"primary"}`), "zone")
	ask(one, "POST", fmt.Sprintf("zones/%d/rrsets", zone), `{"name":"www","type":"A","records":[{"value":"192.0.2.1"}]}`)
	ask(one, "POST", fmt.Sprintf("servers/%d/actions/create_image", server), `{"description":"d","type":"snapshot","labels":{"os":"talos"}}`)
	ask(one, "POST", "ssh_keys", `{"name":"k","public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDHKXvKXUnCsPMTLkPF1ZzLTt4aEDsdEQOTLiuGBT5HH k"}`)
	one.SetStock("fsn1", "cpx22", hetznersim.SoldOut)
	clock.Advance(hetznersim.DefaultActionTime("apply_label_selector") * 10)
	one.Settle()

	read := func(s *hetznersim.Sim) hetznersim.Answers {
		all := hetznersim.Answers{"pricing": {ask(s, "GET", "pricing", "")["pricing"]}}
		paths := append([]string{fmt.Sprintf("zones/%d/rrsets", zone)}, lists...)
		for _, path := range paths {
			key := path[strings.LastIndex(path, "/")+1:]
			var items []json.RawMessage
			if err := json.Unmarshal(ask(s, "GET", path+"?per_page=50", "")[key], &items); err != nil {
				t.Fatal(err)
			}
			all[key] = items
		}
		return all
	}
	said := read(one)
	two := hetznersim.New(hetznersim.Options{Clock: clock})
	if err := two.Load(said); err != nil {
		t.Fatal(err)
	}
	again := read(two)
	for key, want := range said {
		if len(again[key]) != len(want) {
			t.Errorf("%s: %d items, not %d", key, len(again[key]), len(want))
			continue
		}
		for i := range want {
			if string(again[key][i]) != string(want[i]) {
				t.Errorf("%s is read as\n%s\nand was\n%s", key, again[key][i], want[i])
			}
		}
	}
	if made := id(ask(two, "POST", "networks", `{"name":"later","ip_range":"10.1.0.0/16"}`), "network"); made <= server {
		t.Errorf("the id %d was given away before", made)
	}
	m, running, found := two.Machine("s")
	if !running || !found || len(m.PrivateIPs) != 1 || m.PublicIPv4 == "" {
		t.Errorf("%+v", m)
	}
	if err := two.Load(hetznersim.Answers{"servers": {[]byte(`[]`)}}); err == nil || len(read(two)["servers"]) != 1 {
		t.Errorf("what cannot be read has the error %v", err)
	}
}
