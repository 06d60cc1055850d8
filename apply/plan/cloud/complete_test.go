package cloud_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/execute/executetest"
	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// notCompared are fields of infrastructure.yaml that a change of does nothing
// to what is there, with the reason. Everything else must be noticed.
var notCompared = map[string]string{
	":Infrastructure.APIVersion":            "whoever reads the file checks it",
	":Infrastructure.KubernetesAPI":         "how clients reach the cluster, not what there is",
	":Infrastructure.Access":                "how apply reaches the nodes",
	":Infrastructure.Reboots":               "how machines reboot, not what there is",
	":Infrastructure.KeepOthers":            "matters when there is something that is not desired",
	":InfraFirewall.Direct":                 "a firewall of others alone has it; whether selectors of it are the cluster's",
	":InfraSubnet.Purpose":                  "words for people",
	":InfraRoute.Standby":                   "matters while the gateway is ill",
	":InfraServer.Role":                     "a label says it",
	":InfraServer.Pool":                     "a label says it",
	":InfraServer.Index":                    "the name says it",
	":InfraServer.Surge":                    "it says how long the server is there",
	"Servers[0]:InfraServer.KeepPrimaryIPs": "it has no public address",
	"Servers[1]:InfraServer.KeepPrimaryIPs": "it has no public address",
	":InfraServer.KeepDisk":                 "matters only while the type changes",
	":InfraSnapshot.URL":                    "matters when there is no image",
	":InfraSnapshot.Schematic":              "matters when there is no image",
	":InfraSnapshot.Build":                  "matters when there is no image",
	":InfraSnapshot.Labels":                 "the selector finds the image",
	":InfraSnapshot.BuilderType":            "matters when there is no image",
	":InfraSnapshot.BuilderLocation":        "matters when there is no image",
	":InfraTarget.MadeByCluster":            "what has an address has it, whoever made it",
	"FloatingIPs[0]:InfraFloatingIP.ReverseDNS:InfraReverseDNS.IPv6":                                       "it is an IPv4 address",
	"Servers[0]:InfraServer.ReverseDNS":                                                                    "it has no public address",
	"Servers[1]:InfraServer.ReverseDNS":                                                                    "it has no public address",
	"Servers[2]:InfraServer.Image:InfraImage.Selector":                                                     "it has an image by name",
	"LoadBalancers[1]:InfraLoadBalancer.Services[0]:InfraService.HealthCheck:InfraHealthCheck.Path":        "checked by TCP",
	"LoadBalancers[1]:InfraLoadBalancer.Services[0]:InfraService.HealthCheck:InfraHealthCheck.Response":    "checked by TCP",
	"LoadBalancers[1]:InfraLoadBalancer.Services[0]:InfraService.HealthCheck:InfraHealthCheck.TLS":         "checked by TCP",
	"LoadBalancers[1]:InfraLoadBalancer.Services[0]:InfraService.HealthCheck:InfraHealthCheck.StatusCodes": "checked by TCP",
}

// complete is infrastructure with every field set.
func complete() schemas.Infrastructure {
	spec := plantest.Spec{
		Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "db", Offset: 10, Count: 1, Size: 1, Groups: true, Backups: true, Volume: 20}},
		API: true, Ingress: 1, FloatingIP: true, DNS: true, Protected: true, ReverseDNS: true, Rules: 1, Private: true,
	}
	d := executetest.Infrastructure(spec)
	d.Network.Subnets = append(d.Network.Subnets, schemas.InfraSubnet{Purpose: "bare-metal", Type: "vswitch", IPRange: "10.0.88.0/25", NetworkZone: "eu-central", VSwitchID: 7})
	d.Network.ExposeRoutesToVSwitch = true
	d.Firewalls[0].Rules = append(d.Firewalls[0].Rules, schemas.InfraRule{Description: "out", Direction: "out", Protocol: "udp", Port: "53", DestinationIPs: []string{"0.0.0.0/0"}})
	d.DNSRecords = append(d.DNSRecords, schemas.InfraDNSRecord{Zone: plantest.Zone, Name: "static", Type: "A", TTL: 60, Values: []string{"198.51.100.1"}})
	d.LoadBalancers[1].Services = d.LoadBalancers[1].Services[:1]
	return d
}

// A change of any field of infrastructure.yaml is a change, a refusal or at
// least a warning. Nothing is silently ignored.
func TestEveryFieldIsCompared(t *testing.T) {
	desired := complete()
	project := executetest.NewProject(t, hetznersim.Options{})
	project.Sim.AddVSwitch(7)
	observed := project.Stand(t, desired)
	same := findings(t, desired, observed)
	unused := map[string]bool{}
	for field := range notCompared {
		unused[field] = true
	}
	count := 0
	for _, path := range paths(reflect.ValueOf(&desired).Elem(), nil, "Infrastructure") {
		if skip := excused(path.name); skip != "" {
			delete(unused, skip)
			continue
		}
		count++
		changed := complete()
		leaf := reflect.ValueOf(&changed).Elem()
		for _, step := range path.steps {
			leaf = step(leaf)
		}
		mutate(leaf)
		found := findings(t, changed, observed)
		if strings.Contains(found, "wait for each other") {
			t.Errorf("a change of %s: %s", path.name, found)
		}
		if found == same {
			t.Errorf("a change of %s is ignored", path.name)
		}
	}
	if count < 150 {
		t.Errorf("only %d fields were tried", count)
	}
	for field := range unused {
		t.Errorf("%s need not be excused", field)
	}
}

// findings are everything that a plan says but what it costs.
func findings(t *testing.T, desired schemas.Infrastructure, observed cloud.Observed) string {
	t.Helper()
	p, err := cloud.Make(desired, observed, plan.Consent{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(p.Changes, p.Recreate, p.Refusals, p.Warnings)
}

// excused returns the entry of notCompared that covers a path: the longest, for
// one may begin like another.
func excused(path string) (entry string) {
	for field := range notCompared {
		if strings.Contains(path, field) && len(field) > len(entry) {
			entry = field
		}
	}
	return entry
}

// path leads to a leaf: to a value that is neither a struct nor a list of them.
type path struct {
	name  string // with the names of types, as Network:InfraNetwork.Name
	steps []func(reflect.Value) reflect.Value
}

// paths finds the leaves of a value. Of a list of texts the first counts: the
// others are to fall back to.
func paths(v reflect.Value, steps []func(reflect.Value) reflect.Value, name string) (all []path) {
	down := func(step func(reflect.Value) reflect.Value, name string) {
		all = append(all, paths(step(v), append(steps[:len(steps):len(steps)], step), name)...)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			down(reflect.Value.Elem, name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			down(func(v reflect.Value) reflect.Value { return v.Field(i) }, fmt.Sprintf("%s:%s.%s", name, v.Type().Name(), v.Type().Field(i).Name))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				down(func(v reflect.Value) reflect.Value { return v.Index(i) }, fmt.Sprintf("%s[%d]", name, i))
			}
			return all
		}
		return []path{{name, steps}}
	default:
		return []path{{name, steps}}
	}
	return all
}

// mutate changes a leaf.
func mutate(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Slice:
		changed := reflect.MakeSlice(v.Type(), 1, 1)
		changed.Index(0).SetString("x")
		v.Set(changed)
	case reflect.Map:
		changed := reflect.MakeMap(v.Type())
		changed.SetMapIndex(reflect.ValueOf("cluster"), reflect.ValueOf("x"))
		v.Set(changed)
	default:
		panic(v.Kind())
	}
}
