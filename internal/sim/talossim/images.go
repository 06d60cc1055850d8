package talossim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// images is the ImageService, which Talos has since 1.13.
type images struct {
	machine.UnimplementedImageServiceServer

	*service
}

// usualSize is that of an installer without large extensions.
const usualSize = 200 << 20

// imageSize is that of each image of a machine.
func (m *Machine) imageSize() int64 { return cmp.Or(m.spec.ImageSize, usualSize) }

// unused is how long Talos keeps an image that nothing runs.
const unused = time.Hour

// stalled is how long a node tries to get an image that the registry does not have.
const stalled = 10 * time.Minute

// firstLifecycle is the minor of Talos that has the services for images and
// lifecycle.
const firstLifecycle = 13

// lacks is the answer of a Talos that does not have a service.
func (m *Machine) lacks(name string) error {
	if m.minor() < firstLifecycle {
		return status.Error(codes.Unimplemented, "unknown service machine."+name)
	}
	return nil
}

// Pull gets an image, and names it by its digest.
func (s *images) Pull(in *machine.ImageServicePullRequest, stream grpc.ServerStreamingServer[machine.ImageServicePullResponse]) error {
	if err := s.do(stream.Context(), func() error { return s.m.lacks("ImageService") }); err != nil {
		return err
	}
	if err := stream.Send(&machine.ImageServicePullResponse{Response: &machine.ImageServicePullResponse_PullProgress{
		PullProgress: &machine.ImageServicePullProgress{LayerId: "sha256:" + digestOf(in.GetImageRef())}}}); err != nil {
		return err
	}
	name, err := s.pull(stream.Context(), in.GetContainerd().GetNamespace(), in.GetImageRef())
	if err != nil {
		return err
	}
	return stream.Send(&machine.ImageServicePullResponse{Response: &machine.ImageServicePullResponse_Name{Name: name}})
}

// List lists the images that are there.
func (s *images) List(in *machine.ImageServiceListRequest, stream grpc.ServerStreamingServer[machine.ImageServiceListResponse]) error {
	var names []string
	err := s.do(stream.Context(), func() error { names = s.m.stored(in.GetContainerd().GetNamespace()); return s.m.lacks("ImageService") })
	for _, name := range names {
		if err == nil {
			err = stream.Send(&machine.ImageServiceListResponse{Name: name, Digest: "sha256:" + digestOf(name), Size: s.m.imageSize()})
		}
	}
	return err
}

// ImagePull is the call of older versions, without progress.
func (s *service) ImagePull(ctx context.Context, in *machine.ImagePullRequest) (*machine.ImagePullResponse, error) {
	if _, err := s.pull(ctx, in.GetNamespace(), in.GetReference()); err != nil {
		return nil, err
	}
	return &machine.ImagePullResponse{Messages: []*machine.ImagePull{{}}}, nil
}

// ImageList is the call of older versions.
func (s *service) ImageList(in *machine.ImageListRequest, stream grpc.ServerStreamingServer[machine.ImageListResponse]) error {
	var names []string
	err := s.do(stream.Context(), func() error { names = s.m.stored(in.GetNamespace()); return nil })
	for _, name := range names {
		if err == nil {
			err = stream.Send(&machine.ImageListResponse{Name: name, Digest: "sha256:" + digestOf(name), Size: s.m.imageSize()})
		}
	}
	return err
}

// pull stores an image, under its name and by its digest. One that the registry does
// not have is tried for a long time.
func (s *service) pull(ctx context.Context, namespace common.ContainerdNamespace, reference string) (byDigest string, err error) {
	if _, err := systemOf(reference); err != nil {
		if s.fleet.clock.Sleep(ctx, stalled) != nil {
			return "", errHang
		}
		return "", status.Error(codes.NotFound, err.Error())
	}
	name, _, _ := strings.Cut(reference, ":v")
	byDigest = name + "@sha256:" + digestOf(reference)
	err = s.do(ctx, func() error {
		if s.m.images == nil {
			s.m.images = map[string]image{}
		}
		for _, n := range []string{reference, byDigest} {
			s.m.images[n] = image{reference, namespace, s.fleet.now}
		}
		return nil
	})
	return byDigest, err
}

// image is one that a machine has stored.
type image struct {
	reference string
	namespace common.ContainerdNamespace
	at        time.Time
}

// stored are the names of the images of a namespace that are still there.
func (m *Machine) stored(in common.ContainerdNamespace) (names []string) {
	maps.DeleteFunc(m.images, func(_ string, i image) bool { return m.fleet.now.Sub(i.at) > unused })
	for name, i := range m.images {
		if i.namespace == in {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func digestOf(reference string) string {
	sum := sha256.Sum256([]byte(reference))
	return hex.EncodeToString(sum[:])
}
