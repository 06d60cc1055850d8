package talossim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/meta"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// MetaWrite keeps a value in the partition META, which outlives a reset that
// leaves it.
func (s *service) MetaWrite(ctx context.Context, in *machine.MetaWriteRequest) (r *machine.MetaWriteResponse, err error) {
	err = s.do(ctx, func() error {
		key := uint8(in.GetKey())
		if uint32(key) != in.GetKey() || !meta.IsAPIWriteable(key) {
			return status.Errorf(codes.InvalidArgument, "key must be a uint8")
		}
		s.m.flush()
		if s.m.meta == nil {
			s.m.meta = map[uint8]string{}
		}
		s.m.meta[key] = string(in.GetValue())
		r = &machine.MetaWriteResponse{Messages: []*machine.MetaWrite{{}}}
		return nil
	})
	return r, err
}

// MetaDelete removes a value.
func (s *service) MetaDelete(ctx context.Context, in *machine.MetaDeleteRequest) (r *machine.MetaDeleteResponse, err error) {
	err = s.do(ctx, func() error {
		key := uint8(in.GetKey())
		if _, ok := s.m.meta[key]; !ok {
			return status.Error(codes.NotFound, "key not found")
		}
		s.m.flush()
		delete(s.m.meta, key)
		r = &machine.MetaDeleteResponse{Messages: []*machine.MetaDelete{{}}}
		return nil
	})
	return r, err
}

// Meta returns a value of the partition META; empty if there is none.
func (m *Machine) Meta(key uint8) string {
	m.fleet.mu.Lock()
	defer m.fleet.mu.Unlock()
	return m.meta[key]
}

func (m *Machine) metaResources() (all []resource) {
	for _, key := range slices.Sorted(maps.Keys(m.meta)) {
		all = append(all, resource{namespace: "runtime", id: fmt.Sprintf("0x%02x", key), spec: fields{"value": m.meta[key]}})
	}
	return all
}
