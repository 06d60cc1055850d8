package talossim

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	configpb "github.com/siderolabs/talos/pkg/machinery/api/resource/config"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// resources are what a machine tells about itself.
type resources struct {
	cosi.UnimplementedStateServer

	*service
}

// resource is one of them. Its spec is YAML, or a message of its own.
type resource struct {
	namespace, kind, id string
	version             int
	spec                any
	raw                 []byte
}

// sensitive is the kind that only administrators see.
const sensitive = "MachineConfigs.config.talos.dev"

// machineStatuses is the kind that says in which stage a machine is.
const machineStatuses = "MachineStatuses.runtime.talos.dev"

// kinds say what there is of each kind.
var kinds = map[string]func(*Machine) []resource{
	machineStatuses:                         (*Machine).statusResource,
	"SystemInformations.hardware.talos.dev": (*Machine).systemResource,
	"SecurityStates.talos.dev":              (*Machine).securityResource,
	"LinkStatuses.net.talos.dev":            (*Machine).linkResources,
	"HostnameStatuses.net.talos.dev":        (*Machine).hostnameResource,
	"Disks.block.talos.dev":                 (*Machine).diskResources,
	"DiscoveredVolumes.block.talos.dev":     (*Machine).volumeResources,
	sensitive:                               (*Machine).configResource,
	"ExtensionStatuses.runtime.talos.dev":   (*Machine).extensionResources,
	"EtcdMembers.etcd.talos.dev":            (*Machine).memberResource,
	"MetaKeys.runtime.talos.dev":            (*Machine).metaResources,
	"TimeStatuses.v1alpha1.talos.dev":       (*Machine).timeResource,
	"MachineTypes.config.talos.dev":         (*Machine).typeResource,
	"Manifests.kubernetes.talos.dev":        (*Machine).manifestResources,
	"Nodenames.kubernetes.talos.dev":        (*Machine).nodenameResource,
}

// find returns the resources of a kind.
func (r *resources) find(ctx context.Context, namespace, kind string) (found []resource, err error) {
	admin := r.admin(ctx)
	err = r.do(ctx, func() error {
		of := kinds[kind]
		switch {
		case of == nil:
			return status.Errorf(codes.PermissionDenied, "resource type %q is not supported", kind)
		case kind == sensitive && !admin:
			return errDenied
		}
		for _, one := range of(r.m) {
			if one.namespace == namespace {
				one.kind = kind
				found = append(found, one)
			}
		}
		return nil
	})
	return found, err
}

// Get returns one resource.
func (r *resources) Get(ctx context.Context, in *cosi.GetRequest) (*cosi.GetResponse, error) {
	found, err := r.find(ctx, in.GetNamespace(), in.GetType())
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		if one.id == in.GetId() {
			message, err := one.message()
			return &cosi.GetResponse{Resource: message}, err
		}
	}
	return nil, status.Errorf(codes.NotFound, "resource %s(%s/%s@undefined) doesn't exist", in.GetType(), in.GetNamespace(), in.GetId())
}

// List returns all of a kind.
func (r *resources) List(in *cosi.ListRequest, stream grpc.ServerStreamingServer[cosi.ListResponse]) error {
	found, err := r.find(stream.Context(), in.GetNamespace(), in.GetType())
	if err != nil {
		return err
	}
	for _, one := range found {
		message, err := one.message()
		if err != nil {
			return err
		}
		if err := stream.Send(&cosi.ListResponse{Resource: message}); err != nil {
			return err
		}
	}
	return nil
}

// message is a resource as it is sent.
func (r resource) message() (*cosi.Resource, error) {
	spec := &cosi.Spec{ProtoSpec: r.raw}
	if r.spec != nil {
		text, err := yaml.Marshal(r.spec)
		if err != nil {
			return nil, err
		}
		spec.YamlSpec = string(text)
	}
	return &cosi.Resource{
		Metadata: &cosi.Metadata{Namespace: r.namespace, Type: r.kind, Id: r.id, Version: strconv.Itoa(max(r.version, 1)), Phase: "running"},
		Spec:     spec,
	}, nil
}

type fields = map[string]any

func (m *Machine) statusResource() []resource {
	unmet := []fields{}
	if m.stage == stageBooting && m.active != nil {
		for _, v := range m.serviceStates() {
			if !v.known || !v.healthy {
				unmet = append(unmet, fields{"name": "services", "reason": v.name + " not healthy"})
			}
		}
	}
	for _, name := range staticPods {
		if m.pending[name] {
			unmet = append(unmet, fields{"name": "staticPods", "reason": "kube-system/" + name + "-" + m.nodeName() + " pending"})
		}
	}
	return []resource{{namespace: "runtime", id: "machine", spec: fields{
		"stage": m.stage, "status": fields{"ready": len(unmet) == 0, "unmetConditions": unmet},
	}}}
}

func (m *Machine) systemResource() []resource {
	return []resource{{namespace: "hardware", id: "systeminformation", spec: fields{
		"manufacturer": "simulated", "uuid": m.spec.UUID, "serialnumber": m.spec.Serial,
	}}}
}

func (m *Machine) linkResources() []resource {
	all := []resource{{namespace: "network", id: "lo", spec: fields{"type": "loopback", "hardwareAddr": "00:00:00:00:00:00", "permanentAddr": ""}}}
	for i, mac := range m.spec.MACs {
		all = append(all, resource{namespace: "network", id: fmt.Sprintf("eth%d", i), spec: fields{"type": "ether", "hardwareAddr": mac, "permanentAddr": mac}})
	}
	return all
}

func (m *Machine) hostnameResource() []resource {
	return []resource{{namespace: "network", id: "hostname", spec: fields{"hostname": m.nodeName(), "domainname": ""}}}
}

func (m *Machine) diskResources() (all []resource) {
	for _, d := range m.spec.Disks {
		all = append(all, resource{namespace: "runtime", id: base(d.Path), spec: fields{
			"dev_path": d.Path, "size": d.Size, "model": d.Model, "serial": d.Serial, "wwid": d.WWID, "readonly": false, "cdrom": false, "symlinks": append([]string{}, d.Symlinks...),
		}})
	}
	return all
}

// configResource is the active configuration.
func (m *Machine) configResource() []resource {
	if m.active == nil {
		return nil
	}
	raw, err := proto.Marshal(&configpb.MachineConfigSpec{YamlMarshalled: m.active.text})
	if err != nil {
		panic(err) // bytes cannot fail
	}
	return []resource{{namespace: "config", id: "v1alpha1", version: m.version, raw: raw}}
}

func (m *Machine) extensionResources() (all []resource) {
	add := func(name, version string) {
		all = append(all, resource{namespace: "runtime", id: fmt.Sprint(len(all)), spec: fields{"metadata": fields{"name": name, "version": version}}})
	}
	schematic := m.schematic()
	for _, name := range m.fleet.extensions[schematic] {
		add(name, "1.0.0")
	}
	if schematic != "" {
		add("schematic", schematic)
	}
	return all
}

// schematics are ids in the names of installers.
var schematics = regexp.MustCompile(`installer[a-z-]*/([0-9a-f]{64}):v`)

// schematic is the id of the image that runs. A snapshot at Hetzner Cloud has only its
// beginning in a label: the rest is that of the installer in the configuration, if it
// is of the same image.
func (m *Machine) schematic() string {
	if m.active != nil && m.spec.Schematic != "" {
		for _, found := range schematics.FindAllSubmatch(m.active.text, -1) {
			if id := string(found[1]); strings.HasPrefix(id, m.spec.Schematic) {
				return id
			}
		}
	}
	return m.spec.Schematic
}

func (m *Machine) memberResource() []resource {
	if m.etcd.cluster == nil || !m.run.serving {
		return nil
	}
	return []resource{{namespace: "etcd", id: "local", spec: fields{"memberID": fmt.Sprintf("%016x", m.etcd.member)}}}
}

func (m *Machine) timeResource() []resource {
	return []resource{{namespace: "runtime", id: "node", spec: fields{"synced": m.synced, "epoch": 0, "syncDisabled": false}}}
}

func (m *Machine) nodenameResource() []resource {
	if m.active == nil {
		return nil
	}
	return []resource{{namespace: "k8s", id: "nodename", spec: fields{"nodename": m.nodeName(), "hostnameVersion": "2", "skipNodeRegistration": false}}}
}

func (m *Machine) typeResource() []resource {
	if m.active == nil {
		return nil
	}
	return []resource{{namespace: "config", id: "machine-type", spec: m.active.main.Machine.Type}}
}
