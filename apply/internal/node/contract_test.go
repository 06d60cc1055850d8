package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	grpcstatus "google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
)

// subject is a control plane and a worker in maintenance mode, real or
// simulated.
type subject struct {
	t                    *testing.T
	clock                node.Clock
	controlPlane, worker parts
	connect              func(parts) *node.Client // with the certificate of an administrator
	plain                func(parts) *node.Client
}

// parts are what a node of the contract is made of.
type parts struct {
	target node.Target
	config secret.String
}

// promise is a call, and what a node answers: the code, and what is known of
// the message, or what was read.
type promise struct {
	name string
	call func(context.Context, *node.Client) (string, error)
	want string
}

// without is a call that reads nothing.
func without(call func(*node.Client, context.Context) error) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) { return "", call(c, ctx) }
}

func applying(config string, mode node.Mode) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) {
		a, err := c.Apply(ctx, secret.New(config), mode)
		if err != nil {
			return "", errors.New(node.Code(err).String()) // the validation of real nodes says much
		}
		return fmt.Sprint(a.Mode, ": ", a.Details), nil
	}
}

func bootstrapping(ctx context.Context, c *node.Client) (string, error) {
	return "", c.Bootstrap(ctx, false)
}

func listing(ctx context.Context, c *node.Client) (string, error) {
	members, err := c.Members(ctx)
	var list []string
	for _, m := range members {
		list = append(list, fmt.Sprintf("learner=%v urls=%d", m.Learner, len(m.PeerURLs)))
	}
	return strings.Join(list, ", "), err
}

func snapshotting(ctx context.Context, c *node.Client) (string, error) {
	var b bytes.Buffer
	err := c.Snapshot(ctx, &b)
	return fmt.Sprint("pages and a digest: ", b.Len()%512 == 32), err
}

func staging(ctx context.Context, c *node.Client) (string, error) {
	s, err := c.Status(ctx)
	return s.Stage, err
}

// serving are the services, with their state, without those that only some
// nodes have.
func serving(names ...string) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) {
		all, err := c.Services(ctx)
		var list []string
		for _, s := range all {
			if slices.Contains(names, s.Name) {
				list = append(list, fmt.Sprintf("%s %s %v/%v", s.Name, s.State, s.Checked, s.Healthy))
			}
		}
		slices.Sort(list)
		return strings.Join(list, ", "), err
	}
}

func removing(ctx context.Context, c *node.Client) (string, error) {
	return "", c.RemoveMember(ctx, 1)
}

func uploading(ctx context.Context, c *node.Client) (string, error) {
	return "", c.Upload(ctx, strings.NewReader("no snapshot"))
}

func booting(ctx context.Context, c *node.Client) (string, error) {
	id, err := c.BootID(ctx)
	return fmt.Sprint("uuid: ", regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(id)), err
}

func versioning(ctx context.Context, c *node.Client) (string, error) {
	v, err := c.Version(ctx)
	return v[:min(len(v), 3)], err
}

func configuring(ctx context.Context, c *node.Client) (string, error) {
	config, err := c.Config(ctx)
	return fmt.Sprint("some: ", config.Reveal() != ""), err
}

// within a few seconds: real nodes let some calls wait for ever. Those that they
// answer have more, since a busy machine takes it.
const contractPatience, answerPatience = 3 * time.Second, time.Minute

// keep makes calls and compares what they bring.
func (s *subject) keep(state string, c *node.Client, promises []promise) {
	s.t.Helper()
	for _, p := range promises {
		within := answerPatience
		if p.want == "DeadlineExceeded" {
			within = contractPatience
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), within)
		said, err := p.call(ctx, c)
		cancel()
		got := "OK " + said
		if err != nil {
			got = answerOf(err)
		}
		if strings.TrimSpace(got) != p.want {
			s.t.Errorf("%s: %s: %q, want %q", state, p.name, strings.TrimSpace(got), p.want)
		}
	}
}

// answerOf is the code and the message as the node has sent them.
func answerOf(err error) string {
	var st interface{ GRPCStatus() *grpcstatus.Status }
	if !errors.As(err, &st) {
		return err.Error()
	}
	if code := st.GRPCStatus().Code().String(); code != "DeadlineExceeded" {
		return code + " " + numbers.ReplaceAllString(st.GRPCStatus().Message(), "#")
	}
	return "DeadlineExceeded"
}

// numbers are ids of members.
var numbers = regexp.MustCompile(`\b([0-9a-f]{12,}|[0-9]{12,})\b`)

// contract takes the nodes from maintenance mode to an etcd, and holds them to
// what they promise on the way.
func (s *subject) contract() {
	s.t.Helper()
	cp, worker := s.plain(s.controlPlane), s.plain(s.worker)
	s.reach(cp, node.StageMaintenance)
	// It answers before its own look at the health of what answers.
	s.until(cp, "is healthy", "apid Running true/true, machined Running true/true", serving("apid", "machined"))
	s.keep("in maintenance mode", cp, inMaintenance)
	for n, c := range map[parts]*node.Client{s.controlPlane: cp, s.worker: worker} {
		s.reach(c, node.StageMaintenance)
		if _, err := c.Apply(s.t.Context(), n.config, node.NoReboot); err != nil {
			s.t.Fatal(err)
		}
	}
	cp, worker = s.connect(s.controlPlane), s.connect(s.worker)
	s.reach(cp, node.StageBooting)
	const waiting = "apid Running true/true, etcd Preparing false/false, kubelet Running true/true, trustd Running true/true"
	s.until(cp, "waits to be bootstrapped", waiting, serving("apid", "etcd", "kubelet", "trustd"))
	s.keep("configured", cp, whenConfigured)
	s.until(cp, "waits as before", waiting, serving("apid", "etcd", "kubelet", "trustd")) // a health check may be late
	s.keep("configured, for an upgrade", cp, forUpgrade)
	s.keep("as it is", cp, []promise{{"apply again", applying(s.controlPlane.config.Reveal(), node.NoReboot), "OK NO_REBOOT: Applied configuration without a reboot"},
		{"apply again", applying(s.controlPlane.config.Reveal(), node.Auto), "OK NO_REBOOT: Applied configuration without a reboot"},
		{"apply later", applying(s.controlPlane.config.Reveal(), node.Staged), "OK STAGED: Staged configuration to be applied after the next reboot"}})
	s.reach(worker, node.StageRunning, node.StageBooting)
	s.until(worker, "has services", "cri Running true/true", serving("cri"))
	s.keep("a worker", worker, onWorker)
	if _, err := bootstrapping(s.t.Context(), cp); err != nil {
		s.t.Fatal(err)
	}
	s.until(cp, "has an etcd", "learner=false urls=1", listing)
	s.until(cp, "serves", "etcd Running true/true", serving("etcd"))
	s.until(cp, "has objects for Kubernetes", keptObjects, keeping)
	s.keep("bootstrapped", cp, whenBootstrapped)
}

func (s *subject) reach(c *node.Client, stages ...string) {
	s.t.Helper()
	if err := c.WaitStage(s.t.Context(), s.clock, patient, stages...); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until a call brings something.
func (s *subject) until(c *node.Client, what, want string, call func(context.Context, *node.Client) (string, error)) {
	s.t.Helper()
	err := node.Wait(s.t.Context(), s.clock, patient, c.Target().Name, what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, contractPatience)
		defer cancel()
		got, err := call(ctx, c)
		if err == nil && got != want {
			return node.NotYet("it is %q", got)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func noting(ctx context.Context, c *node.Client) (string, error) {
	note, err := c.Note(ctx)
	return fmt.Sprintf("none: %v", note == ""), err
}

func writing(note string) func(context.Context, *node.Client) (string, error) {
	return func(ctx context.Context, c *node.Client) (string, error) {
		_, err := c.WriteNote(ctx, note)
		return "", err
	}
}

func rebooting(c *node.Client, ctx context.Context) error { return c.Reboot(ctx, "") }

var inMaintenance = []promise{
	{"version", versioning, "OK v1."},
	{"stage", staging, "OK maintenance"},
	{"boot id", booting, "PermissionDenied not authorized"},
	{"configuration", configuring, "PermissionDenied not authorized"},
	{"bootstrap", bootstrapping, "PermissionDenied not authorized"},
	{"reboot", without(rebooting), "PermissionDenied not authorized"},
	{"members", listing, "Unimplemented member list is only available on control plane nodes"},
	{"leave", without((*node.Client).Leave), "PermissionDenied not authorized"},
	{"forfeit", without((*node.Client).TransferLeadership), "PermissionDenied not authorized"},
	{"remove", removing, "PermissionDenied not authorized"},
	{"snapshot", snapshotting, "PermissionDenied not authorized"},
	{"upload", uploading, "PermissionDenied not authorized"},
	{"services", serving("apid", "machined", "etcd"), "OK apid Running true/true, machined Running true/true"},
	{"nonsense", applying("nonsense", node.Auto), "InvalidArgument"},
	{"no such type", applying("version: v1alpha1\nmachine: {type: nonsense}\n", node.Auto), "InvalidArgument"},
	{"nothing", applying("", node.Auto), "InvalidArgument"},
	{"pull for Talos", pulling((*node.Client).Pull, imageOfTalos), "PermissionDenied not authorized"},
}

var whenConfigured = []promise{
	{"version", versioning, "OK v1."},
	{"stage", staging, "OK booting"},
	{"boot id", booting, "OK uuid: true"},
	{"configuration", configuring, "OK some: true"},
	{"members", listing, "DeadlineExceeded"},
	{"forfeit", without((*node.Client).TransferLeadership), "DeadlineExceeded"},
	{"leave", without((*node.Client).Leave), "DeadlineExceeded"},
	{"remove", removing, "DeadlineExceeded"},
	{"snapshot", snapshotting, "DeadlineExceeded"},
	{"status", func(ctx context.Context, c *node.Client) (string, error) { _, err := c.EtcdStatus(ctx); return "", err }, "DeadlineExceeded"},
	{"upload", uploading, "OK"},
	{"how it was booted", securing, "OK Secure Boot: false"}, // and a container was not
	{"its note", noting, "OK none: true"},
	{"write a note", writing("something"), "OK"}, // a container has none, and says so
	{"remove the note", writing(""), "OK"},
	{"its note again", noting, "OK none: true"},
	{"nonsense", applying("nonsense", node.Auto), "InvalidArgument"},
	{"a part", applying("apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n", node.NoReboot), "InvalidArgument"},
}

var onWorker = []promise{
	{"bootstrap", bootstrapping, "Unimplemented bootstrap is only available on control plane nodes"},
	{"members", listing, "Unimplemented member list is only available on control plane nodes"},
	{"leave", without((*node.Client).Leave), "Unimplemented etcd leave is only available on control plane nodes"},
	{"forfeit", without((*node.Client).TransferLeadership), "Unimplemented etcd forfeit leadership is only available on control plane nodes"},
	{"remove", removing, "Unimplemented etcd remove member is only available on control plane nodes"},
	{"snapshot", snapshotting, "Unimplemented etcd snapshot is only available on control plane nodes"},
	{"objects for Kubernetes", keeping, "OK"},
	{"upload", uploading, "Unimplemented etcd recover is only available on control plane nodes"},
	{"services", serving("apid", "etcd", "trustd"), "OK apid Running true/true"},
}

var whenBootstrapped = []promise{
	{"members", listing, "OK learner=false urls=1"},
	{"bootstrap", bootstrapping, "AlreadyExists etcd data directory is not empty"},
	{"status", func(ctx context.Context, c *node.Client) (string, error) {
		s, err := c.EtcdStatus(ctx)
		return fmt.Sprintf("leads=%v learner=%v applied=%v errors=%d", s.Leader == s.Member, s.Learner, s.Applied == s.RaftIndex, len(s.Errors)), err
	}, "OK leads=true learner=false applied=true errors=0"},
	{"forfeit", without((*node.Client).TransferLeadership), "Unknown failed to forfeit leadership: cannot forfeit leadership, only one member"},
	{"leave", without((*node.Client).Leave), "Unknown failed to leave cluster: 1 error(s) occurred:\n\tfailed to remove member #: etcdserver: re-configuration failed due to not enough started members"},
	{"remove nobody", removing, "OK"},
	{"snapshot", snapshotting, "OK pages and a digest: true"},
}
