package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/rescuesim"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/schemas"
)

// simToken is the token of the simulated project in scripts: a canary, which no
// command may print.
const simToken = "canary-hcloud-token-0123456789abcdef"

// simProject is the simulated project of a script.
type simProject struct{ *hetznersim.Sim }

type simKey struct{}

// cmdSim starts a project of its own for the script, and tells talosgen where
// it is by its variables. With environments, it has the images that their
// rendered trees want; with -nodes, simulated nodes behind its servers.
//
//	sim [-nodes] [env...]
func cmdSim(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: sim [-nodes] [env...]")
	}
	holder := ts.Value(simKey{}).(*simHolder)
	machines, err := rescuesim.New(bytes.NewReader(make([]byte, 1024)), fetchPicture)
	ts.Check(err)
	ts.Defer(machines.Close)
	o := hetznersim.Options{
		Clock: hetznersim.NewClock(fixedTime()), Token: simToken, ReadOnlyToken: simToken + "-readonly", ActionTime: hetznersim.Instant,
		Machines: machines,
	}
	dial := image.Dialer(machines.Dial)
	if len(args) > 0 && args[0] == "-nodes" {
		args = args[1:]
		holder.fleet = newFleet(ts)
		o.Clock, o.Machines, dial = wallClock{}, talossim.NewServers(holder.fleet, machines), firstOf(machines.Dial, holder.fleet.Dial)
		ts.Setenv(simulatedNodes, runKubernetes)
	}
	p := &simProject{hetznersim.New(o)}
	server := httptest.NewServer(proxied(p, holder.rogue.around(dial)))
	ts.Defer(server.Close)
	holder.sim = p
	ts.Setenv(endpointVariable, server.URL+"/v1")
	ts.Setenv(tokenVariable, simToken)
	ts.Setenv(proxyVariable, server.URL)
	ts.Setenv(hurryVariable, "1")
	for _, env := range args {
		var infra schemas.Infrastructure
		ts.Check(yaml.Unmarshal([]byte(ts.ReadFile("rendered/"+env+"/infrastructure.yaml")), &infra))
		ts.Check(seed(p.Sim, infra, ""))
		for _, m := range infra.Machines { // dedicated servers, with Talos on their disks
			if holder.fleet != nil {
				holder.fleet.Add(preinstalled(m)).PowerOn()
			}
		}
	}
	p.ResetCalls()
}

// call makes a request to the project.
func (p *simProject) call(method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req := httptest.NewRequest(method, "/v1"+path, bytes.NewReader(text))
	req.Header.Set("Authorization", "Bearer "+simToken)
	req.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, req)
	if answer.Code >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Body.Bytes(), into)
}

// cmdHcloud makes a request to the project as another program would. A name in
// brackets in the path becomes the id of the object of its kind.
//
//	hcloud METHOD /servers/[name] [body]
func cmdHcloud(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: hcloud METHOD path [body]")
	}
	p, path := simOf(ts), args[1]
	if before, rest, found := strings.Cut(path, "["); found {
		name, after, _ := strings.Cut(rest, "]")
		var list map[string]json.RawMessage
		ts.Check(p.call(http.MethodGet, before[:len(before)-1]+"?name="+name, nil, &list))
		var objects []struct{ ID int64 }
		ts.Check(json.Unmarshal(list[strings.Trim(before, "/")], &objects))
		if len(objects) != 1 {
			ts.Fatalf("%d objects have the name %s", len(objects), name)
		}
		path = before + strconv.FormatInt(objects[0].ID, 10) + after
	}
	var body any
	if len(args) > 2 {
		ts.Check(json.Unmarshal([]byte(args[2]), &body))
	}
	ts.Check(p.call(args[0], path, body, nil))
	p.ResetCalls()
}

// cmdAddresses sets a variable to the public IPv4 addresses of servers, with commas
// between them.
//
//	addresses variable server...
func cmdAddresses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: addresses variable server...")
	}
	var all []string
	for _, name := range args[1:] {
		var list struct {
			Servers []struct {
				Net struct {
					IPv4 struct{ IP string } `json:"ipv4"`
				} `json:"public_net"`
			} `json:"servers"`
		}
		ts.Check(simOf(ts).call(http.MethodGet, "/servers?name="+name, nil, &list))
		if len(list.Servers) != 1 {
			ts.Fatalf("%d servers have the name %s", len(list.Servers), name)
		}
		all = append(all, list.Servers[0].Net.IPv4.IP)
	}
	ts.Setenv(args[0], strings.Join(all, ","))
	simOf(ts).ResetCalls()
}

// simHolder is where a script keeps its project.
type simHolder struct {
	sim   *simProject
	fleet *talossim.Fleet // behind its servers; may be nil
	rogue *scriptRogue    // on the way to them
}

func simOf(ts *testscript.TestScript) *simProject {
	p := ts.Value(simKey{}).(*simHolder).sim
	if p == nil {
		ts.Fatalf("there is no project: sim first")
	}
	return p
}

// cmdCalls prints the requests since the last time, but for those that only
// read, to stdout. With a number, it fails if there were more than so many,
// those that only read included.
//
//	calls [at most]
func cmdCalls(ts *testscript.TestScript, neg bool, args []string) {
	p := simOf(ts)
	calls := p.Calls()
	p.ResetCalls()
	if len(args) == 1 && !neg {
		most, err := strconv.Atoi(args[0])
		ts.Check(err)
		if len(calls) > most {
			ts.Fatalf("%d requests, more than %d", len(calls), most)
		}
	}
	out := ts.Stdout() // also if there is nothing to say
	for _, c := range calls {
		if c.Method != http.MethodGet {
			fmt.Fprintln(out, c.Method, c.Path, c.Status)
		}
	}
}

// cmdFault lets requests fail: with an error code of the API, from now on until
// it is told to stop.
//
//	fault method path code
//	fault off
func cmdFault(ts *testscript.TestScript, neg bool, args []string) {
	p := simOf(ts)
	switch {
	case !neg && len(args) == 1 && args[0] == "off":
		p.ClearFaults()
	case !neg && len(args) == 3:
		p.Inject(hetznersim.Fault{
			Method: args[0], Path: args[1], Times: -1,
			As: hetznersim.Status(0, args[2], strings.ReplaceAll(args[2], "_", " ")),
		})
	default:
		ts.Fatalf("usage: fault method path code, or fault off")
	}
}

// cmdHoldLock makes the lock of a cluster as a run would have it that was
// killed just now.
//
//	hold-lock cluster owner
func cmdHoldLock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hold-lock cluster owner")
	}
	ts.Check(simOf(ts).call(http.MethodPost, "/firewalls", map[string]any{
		"name": args[0] + "-apply-lock",
		"labels": map[string]string{
			schemas.LabelCluster: args[0], schemas.LabelManagedBy: schemas.ManagedBy, schemas.LabelComponent: schemas.ComponentLock,
			schemas.LabelPrefix + "owner":   strings.ReplaceAll(args[1], "@", "."),
			schemas.LabelPrefix + "expires": strconv.FormatInt(simOf(ts).Clock().Now().Add(5*time.Minute).Unix(), 10),
		},
	}, nil))
}

// cmdSSHKey writes a new private SSH key, and the public one beside it.
//
//	ssh-key file
func cmdSSHKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ssh-key file")
	}
	private, err := sshkey.New(rand.Reader)
	ts.Check(err)
	public, err := sshkey.Public(private)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(private.Reveal()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), []byte(public+"\n"), 0o644))
}
