package node

import (
	"context"
	"reflect"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	configpb "github.com/siderolabs/talos/pkg/machinery/api/resource/config"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/talosgen/talosgen/internal/diag"
)

// fakeResources are what a node has: specs in YAML, or as they come, by kind.
type fakeResources struct {
	cosi.UnimplementedStateServer
	yaml map[kind][]string
	raw  map[kind][]byte
}

// Get returns the first of a kind.
func (f *fakeResources) Get(_ context.Context, r *cosi.GetRequest) (*cosi.GetResponse, error) {
	k := kind{r.GetNamespace(), r.GetType()}
	spec := &cosi.Spec{ProtoSpec: f.raw[k]}
	if texts := f.yaml[k]; len(texts) > 0 {
		spec.YamlSpec = texts[0]
	} else if spec.ProtoSpec == nil {
		return nil, status.Errorf(codes.NotFound, "resource %s doesn't exist", r.GetType())
	}
	return &cosi.GetResponse{Resource: &cosi.Resource{Spec: spec}}, nil
}

// List returns all of a kind.
func (f *fakeResources) List(r *cosi.ListRequest, stream grpc.ServerStreamingServer[cosi.ListResponse]) error {
	texts, ok := f.yaml[kind{r.GetNamespace(), r.GetType()}]
	if !ok {
		return status.Error(codes.PermissionDenied, "not authorized")
	}
	for _, text := range texts {
		if err := stream.Send(&cosi.ListResponse{Resource: &cosi.Resource{Spec: &cosi.Spec{YamlSpec: text}}}); err != nil {
			return err
		}
	}
	return nil
}

func clientOf(t *testing.T, resources *fakeResources) *Client {
	t.Helper()
	a := newAuthority(t)
	f := answers(nil)
	f.resources = resources
	return connect(t, f.start(t, a, loopback(), a), a.client(a, now))
}

// hardwareOf is a machine with two cards, in the words of Talos.
func hardwareOf() map[kind][]string {
	return map[kind][]string{
		systemInformations: {"manufacturer: ACME\nuuid: 00000000-0000-0000-0000-000000000001\nserialnumber: S1\n"},
		linkStatuses: {
			"type: loopback\nhardwareAddr: 00:00:00:00:00:00\npermanentAddr: \"\"\n",
			"type: ether\nhardwareAddr: 00:00:5e:00:53:0f\npermanentAddr: 00:00:5e:00:53:01\n",
			"type: ether\nhardwareAddr: 00:00:5e:00:53:02\npermanentAddr: \"\"\n",
			"type: ether\nhardwareAddr: \"\"\n",
		},
		disks:   {"dev_path: /dev/sda\nsize: 1000\nmodel: M\nserial: D1\nreadonly: false\nsymlinks: [/dev/disk/by-id/x]\nnew_in_some_version: 1\n"},
		volumes: {"dev_path: /dev/sda1\nparent_dev_path: /dev/sda\nname: ext4\npartition_label: root\n"},
	}
}

func TestHardware(t *testing.T) {
	got, err := clientOf(t, &fakeResources{yaml: hardwareOf()}).Hardware(t.Context())
	want := Hardware{
		UUID: "00000000-0000-0000-0000-000000000001", Serial: "S1",
		// The address that a card was made with goes before the one that it was given.
		MACs:    []string{"00:00:5e:00:53:01", "00:00:5e:00:53:02"},
		Disks:   []Disk{{DevPath: "/dev/sda", Size: 1000, Model: "M", Serial: "D1", Symlinks: []string{"/dev/disk/by-id/x"}}},
		Volumes: []Volume{{Path: "/dev/sda1", Parent: "/dev/sda", Content: "ext4", PartitionLabel: "root"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestHardwareUnread: what cannot be read is never taken for absent.
func TestHardwareUnread(t *testing.T) {
	for _, k := range []kind{systemInformations, linkStatuses, disks, volumes} {
		for name, change := range map[string]func(map[kind][]string){
			"denied": func(all map[kind][]string) { delete(all, k) },
			"broken": func(all map[kind][]string) { all[k] = []string{"[qzxkanari"} },
		} {
			all := hardwareOf()
			change(all)
			got, err := clientOf(t, &fakeResources{yaml: all}).Hardware(t.Context())
			checkError(t, err, diag.Remote, "node a: read its hardware: ")
			if name == "denied" && Code(err) != codes.PermissionDenied {
				t.Errorf("%s %s: %v", name, k.name, err)
			}
			if !reflect.DeepEqual(got, Hardware{}) {
				t.Errorf("%s %s: %+v", name, k.name, got)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	got, err := clientOf(t, &fakeResources{yaml: map[kind][]string{
		machineStatuses: {"stage: running\nstatus:\n  ready: false\n  unmetConditions:\n    - name: nodeReady\n      reason: not yet\n"},
	}}).Status(t.Context())
	if err != nil || got.Stage != StageRunning || got.State.Ready || !reflect.DeepEqual(got.State.Unmet, []Unmet{{"nodeReady", "not yet"}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestConfig(t *testing.T) {
	const config = "version: v1alpha1\n---\nkind: OfAnotherVersionConfig\n"
	message, err := proto.Marshal(&configpb.MachineConfigSpec{YamlMarshalled: []byte(config)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := clientOf(t, &fakeResources{raw: map[kind][]byte{machineConfigs: message}}).Config(t.Context())
	if err != nil || got.Reveal() != config {
		t.Errorf("got %q, %v", got.Reveal(), err)
	}
	// Neither what is no such message nor an empty one is a configuration.
	for _, raw := range [][]byte{{}, []byte("version: v1alpha1\n")} {
		_, err := clientOf(t, &fakeResources{raw: map[kind][]byte{machineConfigs: raw}}).Config(t.Context())
		checkError(t, err, diag.Remote, "node a: read its configuration: the answer has an unknown form")
	}
	_, err = clientOf(t, &fakeResources{}).Config(t.Context())
	if Code(err) != codes.NotFound {
		t.Errorf("a node without one: %v", err)
	}
}
