package node

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// only returns the one message of a response: a call is to one node.
func only[M any](c *link, what string, messages []M, err error) (M, error) {
	var none M
	switch {
	case err != nil:
		return none, err
	case len(messages) != 1:
		return none, diag.On("node "+c.target.Name, "%s: there are %d answers", what, len(messages)).WithCode(diag.Remote)
	}
	return messages[0], nil
}

// Version returns the version of Talos that runs, such as v1.14.1.
func (c *Client) Version(ctx context.Context) (string, error) {
	const what = "read its version"
	response, err := call(ctx, c.link, what, &emptypb.Empty{}, c.machine.Version)
	m, err := only(c.link, what, response.GetMessages(), err)
	return m.GetVersion().GetTag(), err
}

// containerMode is what Talos calls the mode of a node that is a container.
const containerMode = "container"

// Container reports whether the node is a container, as Talos' own provisioner
// for Docker makes them: nothing is installed, and it has no disks.
func (c *Client) Container(ctx context.Context) (bool, error) {
	const what = "read what it runs on"
	response, err := call(ctx, c.link, what, &emptypb.Empty{}, c.machine.Version)
	m, err := only(c.link, what, response.GetMessages(), err)
	return m.GetPlatform().GetMode() == containerMode, err
}

// Platform is what the image of the node is made for, such as hcloud or metal.
func (c *Client) Platform(ctx context.Context) (string, error) {
	const what = "read what it runs on"
	response, err := call(ctx, c.link, what, &emptypb.Empty{}, c.machine.Version)
	m, err := only(c.link, what, response.GetMessages(), err)
	return m.GetPlatform().GetName(), err
}

// BootID returns what the kernel calls this boot: another one after a reboot.
func (c *Client) BootID(ctx context.Context) (string, error) {
	const what = "read its boot id"
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := c.machine.Read(ctx, &machine.ReadRequest{Path: "/proc/sys/kernel/random/boot_id"})
	if err != nil {
		return "", c.explain(what, err)
	}
	var text strings.Builder
	err = c.copy(what, stream, &text)
	return strings.TrimSpace(text.String()), err
}

// copy writes what a stream brings.
func (c *link) copy(what string, stream grpc.ServerStreamingClient[common.Data], to io.Writer) error {
	for {
		data, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.explain(what, err)
		case streamError(data) != "":
			return diag.On("node "+c.target.Name, "%s: %s", what, streamError(data)).WithCode(diag.Remote)
		}
		if _, err := to.Write(data.GetBytes()); err != nil {
			return err
		}
	}
}

// streamError is why a stream ends early.
func streamError(data *common.Data) string {
	//lint:ignore SA1019 nodes of today still say it there
	return data.GetMetadata().GetError()
}

// Mode says how a configuration takes effect.
type Mode = machine.ApplyConfigurationRequest_Mode

// Auto reboots if it has to. NoReboot refuses what needs a reboot. Staged takes
// effect at the next reboot.
const (
	Auto     = machine.ApplyConfigurationRequest_AUTO
	NoReboot = machine.ApplyConfigurationRequest_NO_REBOOT
	Staged   = machine.ApplyConfigurationRequest_STAGED
)

// Applied is what a node says about a configuration that it took.
type Applied struct {
	Mode     Mode     // what it made of auto
	Warnings []string // of its validation
	Details  string
}

// Apply hands a configuration to the node. That it was taken does not mean that
// it is in effect: wait for the stage. The error names no value of it, but what
// the node says of a value may.
func (c *Client) Apply(ctx context.Context, config secret.String, mode Mode) (Applied, error) {
	const what = "apply its configuration"
	request := &machine.ApplyConfigurationRequest{Data: []byte(config.Reveal()), Mode: mode}
	response, err := call(ctx, c.link, what, request, c.machine.ApplyConfiguration)
	m, err := only(c.link, what, response.GetMessages(), err)
	if err != nil {
		return Applied{}, err
	}
	return Applied{Mode: m.GetMode(), Warnings: m.GetWarnings(), Details: m.GetModeDetails()}, nil
}

// Service is a service of Talos, such as etcd or kubelet.
type Service struct {
	Name    string
	State   string // such as Running, Waiting, Preparing, Failed
	Checked bool   // its health is known
	Healthy bool
	Message string // of the last check, or the last event
}

// Services lists the services of the node.
func (c *Client) Services(ctx context.Context) ([]Service, error) {
	const what = "list its services"
	response, err := call(ctx, c.link, what, &emptypb.Empty{}, c.machine.ServiceList)
	m, err := only(c.link, what, response.GetMessages(), err)
	if err != nil {
		return nil, err
	}
	var found []Service
	for _, s := range m.GetServices() {
		health := s.GetHealth()
		service := Service{
			Name: s.GetId(), State: s.GetState(),
			Checked: !health.GetUnknown(), Healthy: health.GetHealthy(), Message: health.GetLastMessage(),
		}
		if events := s.GetEvents().GetEvents(); service.Message == "" && len(events) > 0 {
			service.Message = events[len(events)-1].GetMsg()
		}
		found = append(found, service)
	}
	return found, nil
}

// RebootMode is how a node reboots; empty is as Talos does by itself.
type RebootMode string

// The modes.
const (
	PowerCycle RebootMode = "powercycle" // through the firmware, without kexec
	Force      RebootMode = "force"      // without ending services; since Talos 1.12
)

// Reboot reboots the node. It is down some time after this returns: wait for
// another boot id.
func (c *Client) Reboot(ctx context.Context, mode RebootMode) error {
	modes := map[RebootMode]machine.RebootRequest_Mode{PowerCycle: machine.RebootRequest_POWERCYCLE, Force: machine.RebootRequest_FORCE}
	_, err := call(ctx, c.link, "reboot", &machine.RebootRequest{Mode: modes[mode]}, c.machine.Reboot)
	return err
}

// Wipe makes the node forget its configuration and its data, and reboots it into
// maintenance mode. Talos itself stays on the disk, and so does what is on disks
// of users.
func (c *Client) Wipe(ctx context.Context) error {
	request := &machine.ResetRequest{Reboot: true}
	for _, label := range []string{constants.StatePartitionLabel, constants.EphemeralPartitionLabel} {
		request.SystemPartitionsToWipe = append(request.SystemPartitionsToWipe, &machine.ResetPartitionSpec{Label: label, Wipe: true})
	}
	_, err := call(ctx, c.link, "reset", request, c.machine.Reset)
	return err
}

// Reset wipes the node, and reboots it into maintenance mode or switches it off.
// A graceful one of a control plane leaves etcd first, and fails if it cannot.
func (c *Client) Reset(ctx context.Context, graceful, reboot bool) error {
	_, err := call(ctx, c.link, "reset", &machine.ResetRequest{Graceful: graceful, Reboot: reboot}, c.machine.Reset)
	return err
}
