package node

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/diag"
)

// Bounds of a pull: without any progress, and as a whole. Talos itself tries for ever
// to get an image that the registry does not have.
const (
	pullStalls = 90 * time.Second
	pullWithin = 10 * time.Minute
)

// installWithin is how long an installer may take.
const installWithin = 15 * time.Minute

// Where Talos keeps images: system has installers and the kubelet, pods what the kubelet
// runs.
var (
	system = &common.ContainerdInstance{Driver: common.ContainerDriver_CONTAINERD, Namespace: common.ContainerdNamespace_NS_SYSTEM}
	pods   = &common.ContainerdInstance{Driver: common.ContainerDriver_CRI, Namespace: common.ContainerdNamespace_NS_CRI}
)

// installCalls are the calls about images and the installation of Talos.
type installCalls struct{ *link }

// errStalled ends a pull that makes no progress.
var errStalled = errors.New("there was no progress")

// Pull gets an image of Talos or of the kubelet to the node, and returns what the node
// calls it: since Talos 1.13 a name with its digest.
func (c installCalls) Pull(ctx context.Context, image string) (name string, err error) {
	return c.pull(ctx, system, image)
}

// PullForPods is [Client.Pull] for an image that the kubelet runs.
func (c installCalls) PullForPods(ctx context.Context, image string) (name string, err error) {
	return c.pull(ctx, pods, image)
}

func (c installCalls) pull(ctx context.Context, into *common.ContainerdInstance, image string) (name string, err error) {
	within, cancel := context.WithTimeoutCause(ctx, pullWithin, errStalled)
	defer cancel()
	name, err = c.pullStream(within, into, image)
	if Code(err) == codes.Unimplemented {
		name, err = image, c.pullOlder(within, into, image)
	}
	switch {
	case err == nil:
		return name, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, errStalled) || within.Err() != nil || Code(err) == codes.DeadlineExceeded: // the node has it too
		return "", diag.On("node "+c.target.Name, "pull an image: %v with %s", errStalled, image).
			WithHint("see that the node reaches the registry, and that it has the image").WithCode(diag.NotReady)
	case errors.Is(err, io.EOF):
		return "", diag.On("node "+c.target.Name, "pull an image: the answer ended early").WithCode(diag.Remote)
	}
	return "", c.explain("pull an image", err)
}

// pullStream is the call since Talos 1.13, which tells how it goes on.
func (c installCalls) pullStream(ctx context.Context, into *common.ContainerdInstance, image string) (name string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(pullStalls, func() { cancel(errStalled) })
	defer stalled.Stop()
	stream, err := machine.NewImageServiceClient(c.conn).Pull(ctx, &machine.ImageServicePullRequest{Containerd: into, ImageRef: image})
	for err == nil {
		var r *machine.ImageServicePullResponse
		if r, err = stream.Recv(); err == nil && r.GetName() != "" {
			name = r.GetName()
		}
		stalled.Reset(pullStalls)
	}
	switch {
	case errors.Is(err, io.EOF) && name != "":
		return name, nil
	case errors.Is(context.Cause(ctx), errStalled):
		return "", errStalled
	}
	return "", err
}

// pullOlder is the call of before Talos 1.13, which answers when it has the image.
func (c installCalls) pullOlder(ctx context.Context, into *common.ContainerdInstance, image string) error {
	//lint:ignore SA1019 older nodes have no other call
	_, err := c.machine.ImagePull(ctx, &machine.ImagePullRequest{Namespace: into.GetNamespace(), Reference: image})
	return err
}

// Image is an image that a node has.
type Image struct {
	Name string
	Size uint64 // bytes, of its layers as the registry sends them
}

// Images are those that the node has for Talos itself.
func (c installCalls) Images(ctx context.Context) (images []Image, err error) {
	const what = "list its images"
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := machine.NewImageServiceClient(c.conn).List(ctx, &machine.ImageServiceListRequest{Containerd: system})
	for err == nil {
		var r *machine.ImageServiceListResponse
		if r, err = stream.Recv(); err == nil {
			images = append(images, Image{r.GetName(), uint64(max(r.GetSize(), 0))})
		}
	}
	if Code(err) == codes.Unimplemented {
		return c.imagesOlder(ctx)
	}
	if errors.Is(err, io.EOF) {
		return images, nil
	}
	return nil, c.explain(what, err)
}

// imagesOlder is [Client.Images] before Talos 1.13.
func (c installCalls) imagesOlder(ctx context.Context) (images []Image, err error) {
	//lint:ignore SA1019 older nodes have no other call
	stream, err := c.machine.ImageList(ctx, &machine.ImageListRequest{Namespace: system.GetNamespace()})
	for err == nil {
		var r *machine.ImageListResponse
		if r, err = stream.Recv(); err == nil {
			images = append(images, Image{r.GetName(), uint64(max(r.GetSize(), 0))})
		}
	}
	if errors.Is(err, io.EOF) {
		return images, nil
	}
	return nil, c.explain("list its images", err)
}

// Install runs an installer beside the system that runs, and returns its exit code.
// The image must have been pulled. An error says that the outcome is not known: the
// installer goes on without its client.
func (c installCalls) Install(ctx context.Context, image string, notify func(string)) (code int32, err error) {
	const what = "install Talos"
	ctx, cancel := context.WithTimeout(ctx, installWithin)
	defer cancel()
	stream, err := machine.NewLifecycleServiceClient(c.conn).Upgrade(ctx, installRequest(image))
	for err == nil {
		var r *machine.LifecycleServiceUpgradeResponse
		if r, err = stream.Recv(); err != nil {
			break
		}
		switch p := r.GetProgress().GetResponse().(type) {
		case *machine.LifecycleServiceInstallProgress_ExitCode:
			return p.ExitCode, nil
		case *machine.LifecycleServiceInstallProgress_Message:
			notify(oneLine(p.Message))
		}
	}
	if errors.Is(err, io.EOF) {
		return 0, diag.On("node "+c.target.Name, "%s: the answer ended early", what).WithCode(diag.Remote)
	}
	return 0, c.explain(what, err)
}

func installRequest(image string) *machine.LifecycleServiceUpgradeRequest {
	return &machine.LifecycleServiceUpgradeRequest{Containerd: system, Source: &machine.InstallArtifactsSource{ImageName: image}}
}

// Installing reports whether an installer runs. It asks for an installation of
// nothing, which a node refuses for one of two reasons. A Talos before 1.13 has no
// installer that runs beside it.
func (c installCalls) Installing(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := machine.NewLifecycleServiceClient(c.conn).Upgrade(ctx, installRequest(""))
	if err == nil {
		_, err = stream.Recv()
	}
	switch Code(err) {
	case codes.FailedPrecondition:
		return true, nil
	case codes.InvalidArgument, codes.Unimplemented:
		return false, nil
	}
	return false, c.explain("ask whether an installer runs", err)
}

// Upgrade is the call of before Talos 1.13: the node stops what runs, installs and
// reboots, through the firmware if the mode says so. It is down some time after this
// returns.
func (c installCalls) Upgrade(ctx context.Context, image string, mode RebootMode) error {
	request := &machine.UpgradeRequest{Image: image}
	if mode == PowerCycle {
		request.RebootMode = machine.UpgradeRequest_POWERCYCLE
	}
	//lint:ignore SA1019 older nodes have no other call
	_, err := call(ctx, c.link, "upgrade Talos", request, c.machine.Upgrade)
	return err
}

// Rollback lets the node boot the system that its bootloader has besides the one that it
// boots by default, and reboots it. A second call in one boot leads back.
func (c installCalls) Rollback(ctx context.Context) error {
	_, err := call(ctx, c.link, "go back to the Talos of before", &machine.RollbackRequest{}, c.machine.Rollback)
	return err
}

var extensionStatuses = kind{"runtime", "ExtensionStatuses.runtime.talos.dev"}

// Extensions are the system extensions that run, and the id of the image's schematic;
// empty if the image came from elsewhere.
func (c installCalls) Extensions(ctx context.Context) (names []string, schematic string, err error) {
	err = c.list(ctx, "list its extensions", extensionStatuses, func(_ string, decode func(any) error) error {
		var e struct {
			Metadata struct {
				Name    string `yaml:"name"`
				Version string `yaml:"version"`
			} `yaml:"metadata"`
		}
		if err := decode(&e); err != nil {
			return err
		}
		if e.Metadata.Name == "schematic" {
			schematic = e.Metadata.Version
		} else {
			names = append(names, e.Metadata.Name)
		}
		return nil
	})
	return names, schematic, err
}
