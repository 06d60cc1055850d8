package talossim

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// etcdData is the directory of etcd's data.
const etcdData = "/var/lib/etcd"

// List knows one directory: that of etcd's data. Nodes name the directory first,
// and make it before etcd starts.
func (s *service) List(r *machine.ListRequest, stream grpc.ServerStreamingServer[machine.FileInfo]) error {
	var found []*machine.FileInfo
	err := s.do(stream.Context(), func() error {
		root := strings.TrimRight(r.GetRoot(), "/")
		if root != etcdData || !s.m.services || s.m.active == nil || !s.m.active.controlPlane() {
			return status.Errorf(codes.Unknown, "lstat %s: no such file or directory", root)
		}
		found = append(found, &machine.FileInfo{Name: root, RelativeName: ".", IsDir: true})
		if s.m.etcd.cluster != nil {
			found = append(found, &machine.FileInfo{Name: root + "/member", RelativeName: "member", IsDir: true})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := stream.Send(f); err != nil {
			return err
		}
	}
	return nil
}
