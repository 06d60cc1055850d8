package node

import (
	"context"
	"errors"
	"io"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	configpb "github.com/siderolabs/talos/pkg/machinery/api/resource/config"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// kind is a kind of resource that a node has.
type kind struct{ namespace, name string }

// The kinds that are read here; see pkg/machinery/resources of Talos.
var (
	machineStatuses    = kind{"runtime", "MachineStatuses.runtime.talos.dev"}
	systemInformations = kind{"hardware", "SystemInformations.hardware.talos.dev"}
	linkStatuses       = kind{"network", "LinkStatuses.net.talos.dev"}
	disks              = kind{"runtime", "Disks.block.talos.dev"}
	volumes            = kind{"runtime", "DiscoveredVolumes.block.talos.dev"}
	metaKeys           = kind{"runtime", "MetaKeys.runtime.talos.dev"}
	machineConfigs     = kind{"config", "MachineConfigs.config.talos.dev"}
	hostnames          = kind{"network", "HostnameStatuses.net.talos.dev"}
)

// get reads one resource.
func (c *link) get(ctx context.Context, what string, k kind, id string, into any) error {
	response, err := call(ctx, c, what, &cosi.GetRequest{Namespace: k.namespace, Type: k.name, Id: id}, c.resources.Get)
	if err != nil {
		return err
	}
	return c.decode(what, response.GetResource(), into)
}

// decode reads the YAML form of a resource. An error of the decoder could quote
// a secret.
func (c *link) decode(what string, r *cosi.Resource, into any) error {
	if err := yaml.Unmarshal([]byte(r.GetSpec().GetYamlSpec()), into); err != nil {
		return diag.On("node "+c.target.Name, "%s: the answer cannot be read", what).WithCode(diag.Remote)
	}
	return nil
}

// list reads all resources of a kind. each is told the id of one, and reads it.
func (c *link) list(ctx context.Context, what string, k kind, each func(id string, decode func(any) error) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := c.resources.List(ctx, &cosi.ListRequest{Namespace: k.namespace, Type: k.name})
	if err != nil {
		return c.explain(what, err)
	}
	for {
		response, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.explain(what, err)
		}
		r := response.GetResource()
		if err := each(r.GetMetadata().GetId(), func(into any) error { return c.decode(what, r, into) }); err != nil {
			return err
		}
	}
}

// Status is what a node says about itself. Stages are those of Talos, such as
// maintenance, installing, booting, running, rebooting, upgrading.
type Status struct {
	Stage string `yaml:"stage"`
	State struct {
		Ready bool    `yaml:"ready"`
		Unmet []Unmet `yaml:"unmetConditions"`
	} `yaml:"status"`
}

// StaticPods is the name of the condition that the static pods of a control plane are ready.
const StaticPods = "staticPods"

// Unmet is a condition that keeps a node from being ready.
type Unmet struct {
	Name   string `yaml:"name"`
	Reason string `yaml:"reason"`
}

// The stages that have a meaning here.
const (
	StageMaintenance = "maintenance"
	StageBooting     = "booting"
	StageRunning     = "running"
)

// Status reads the stage of the node.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.get(ctx, "read its stage", machineStatuses, "machine", &s)
	return s, err
}

// Config reads the configuration that is active on the node, as it was applied.
// It needs a client certificate of an administrator.
func (c *Client) Config(ctx context.Context) (secret.String, error) {
	config, _, err := c.Active(ctx)
	return config, err
}

// Active is [Client.Config], and the version of the resource, which grows with
// each change within a boot.
func (c *Client) Active(ctx context.Context) (config secret.String, version string, err error) {
	return c.config(ctx, "read its configuration", "v1alpha1")
}

// Persistent is the configuration that the node begins its next boot with; empty if its
// Talos does not tell it apart from the active one.
func (c *Client) Persistent(ctx context.Context) (secret.String, error) {
	text, _, err := c.config(ctx, "read its stored configuration", "persistent")
	if Code(err) == codes.NotFound {
		return secret.String{}, nil
	}
	return text, err
}

// Hostname is the name that the node has, whoever gave it.
func (c *Client) Hostname(ctx context.Context) (string, error) {
	var s struct {
		Hostname string `yaml:"hostname"`
	}
	err := c.get(ctx, "read its name", hostnames, "hostname", &s)
	return s.Hostname, err
}

func (c *Client) config(ctx context.Context, what, id string) (config secret.String, version string, err error) {
	response, err := call(ctx, c.link, what, &cosi.GetRequest{
		Namespace: machineConfigs.namespace, Type: machineConfigs.name, Id: id,
	}, c.resources.Get)
	if err != nil {
		return secret.String{}, "", err
	}
	var spec configpb.MachineConfigSpec
	if err := proto.Unmarshal(response.GetResource().GetSpec().GetProtoSpec(), &spec); err != nil || len(spec.GetYamlMarshalled()) == 0 {
		return secret.String{}, "", diag.On("node "+c.target.Name, "%s: the answer has an unknown form", what).WithCode(diag.Remote)
	}
	return secret.New(string(spec.GetYamlMarshalled())), response.GetResource().GetMetadata().GetVersion(), nil
}

// Hardware is what tells one machine from another, and what is on its disks.
type Hardware struct {
	UUID    string // of SMBIOS
	Serial  string // of SMBIOS
	MACs    []string
	Disks   []Disk
	Volumes []Volume
}

// Volume is what was found on a disk or a partition.
type Volume struct {
	Path           string `yaml:"dev_path"`
	Parent         string `yaml:"parent_dev_path"` // the disk of a partition
	Content        string `yaml:"name"`            // the partition table or file system, such as gpt or ext4
	Label          string `yaml:"label"`
	PartitionLabel string `yaml:"partition_label"`
}

// Hardware reads what identifies the machine, also in maintenance mode.
func (c *Client) Hardware(ctx context.Context) (Hardware, error) {
	const what = "read its hardware"
	var h Hardware
	err := c.list(ctx, what, systemInformations, func(_ string, decode func(any) error) error {
		var s struct {
			UUID   string `yaml:"uuid"`
			Serial string `yaml:"serialnumber"`
		}
		err := decode(&s)
		h.UUID, h.Serial = s.UUID, s.Serial
		return err
	})
	if err != nil {
		return Hardware{}, err
	}
	if h.MACs, err = c.macs(ctx, what); err != nil {
		return Hardware{}, err
	}
	if h.Disks, err = listed[Disk](ctx, c.link, what, disks); err != nil {
		return Hardware{}, err
	}
	if h.Volumes, err = listed[Volume](ctx, c.link, what, volumes); err != nil {
		return Hardware{}, err
	}
	return h, nil
}

// macs are the addresses of network cards: the ones that they were made with, if
// they are known.
func (c *link) macs(ctx context.Context, what string) (found []string, err error) {
	err = c.list(ctx, what, linkStatuses, func(_ string, decode func(any) error) error {
		var link struct {
			Type      string `yaml:"type"`
			Hardware  string `yaml:"hardwareAddr"`
			Permanent string `yaml:"permanentAddr"`
		}
		if err := decode(&link); err != nil {
			return err
		}
		if link.Permanent == "" {
			link.Permanent = link.Hardware
		}
		if link.Type == "ether" && link.Permanent != "" {
			found = append(found, link.Permanent)
		}
		return nil
	})
	return found, err
}

func listed[T any](ctx context.Context, c *link, what string, k kind) (found []T, err error) {
	err = c.list(ctx, what, k, func(_ string, decode func(any) error) error {
		var item T
		err := decode(&item)
		found = append(found, item)
		return err
	})
	return found, err
}
