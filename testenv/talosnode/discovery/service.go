package main

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/siderolabs/discovery-api/api/v1alpha1/server/pb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// service is the Talos discovery service, without expiry: its clusters do not
// live as long as an entry may.
type service struct {
	pb.UnimplementedClusterServer

	mu       sync.Mutex
	clusters map[string]*cluster
}

// cluster is what is known of a cluster, and who wants to know.
type cluster struct {
	affiliates map[string]*pb.Affiliate
	watchers   map[chan *pb.WatchResponse]struct{}
}

// backlog is how many changes a watcher may lag behind before it is sent off,
// to come back and be told everything.
const backlog = 256

// Hello tells a node the address that it comes from.
func (s *service) Hello(ctx context.Context, _ *pb.HelloRequest) (*pb.HelloResponse, error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return nil, status.Error(codes.Internal, "the peer is unknown")
	}

	address, err := netip.ParseAddrPort(from.Addr.String())
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}

	return &pb.HelloResponse{ClientIp: address.Addr().Unmap().AsSlice()}, nil
}

// AffiliateUpdate replaces what a node says of itself, and adds endpoints that
// it has seen.
func (s *service) AffiliateUpdate(_ context.Context, r *pb.AffiliateUpdateRequest) (*pb.AffiliateUpdateResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	c := s.cluster(r.GetClusterId())
	before := c.affiliates[r.GetAffiliateId()]

	// A new value: watchers may still be sending the one before.
	after := &pb.Affiliate{Id: r.GetAffiliateId(), Data: before.GetData(), Endpoints: slices.Clone(before.GetEndpoints())}
	if r.AffiliateData != nil {
		after.Data = r.GetAffiliateData()
	}

	for _, endpoint := range r.GetAffiliateEndpoints() {
		same := func(known []byte) bool { return slices.Equal(known, endpoint) }
		if !slices.ContainsFunc(after.Endpoints, same) {
			after.Endpoints = append(after.Endpoints, endpoint)
		}
	}

	c.affiliates[after.GetId()] = after
	c.notify(&pb.WatchResponse{Affiliates: []*pb.Affiliate{after}})

	return &pb.AffiliateUpdateResponse{}, nil
}

// AffiliateDelete forgets a node.
func (s *service) AffiliateDelete(_ context.Context, r *pb.AffiliateDeleteRequest) (*pb.AffiliateDeleteResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	c := s.cluster(r.GetClusterId())
	delete(c.affiliates, r.GetAffiliateId())
	c.notify(&pb.WatchResponse{Affiliates: []*pb.Affiliate{{Id: r.GetAffiliateId()}}, Deleted: true})

	return &pb.AffiliateDeleteResponse{}, nil
}

// List says what is known of a cluster.
func (s *service) List(_ context.Context, r *pb.ListRequest) (*pb.ListResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return &pb.ListResponse{Affiliates: s.cluster(r.GetClusterId()).list()}, nil
}

// Watch says what is known of a cluster, and every change from then on.
func (s *service) Watch(r *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	changes := make(chan *pb.WatchResponse, backlog)

	s.mu.Lock()
	c := s.cluster(r.GetClusterId())
	c.watchers[changes] = struct{}{}
	known := &pb.WatchResponse{Affiliates: c.list()}
	s.mu.Unlock()

	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()

		delete(c.watchers, changes)
	}()

	if err := stream.Send(known); err != nil {
		return err
	}

	for {
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case change, ok := <-changes:
			if !ok {
				return status.Error(codes.Unavailable, "too slow")
			}

			if err := stream.Send(change); err != nil {
				return err
			}
		}
	}
}

func (s *service) cluster(id string) *cluster {
	if s.clusters[id] == nil {
		s.clusters[id] = &cluster{
			affiliates: map[string]*pb.Affiliate{},
			watchers:   map[chan *pb.WatchResponse]struct{}{},
		}
	}

	return s.clusters[id]
}

func (c *cluster) list() []*pb.Affiliate {
	return slices.Collect(maps.Values(c.affiliates))
}

func (c *cluster) notify(change *pb.WatchResponse) {
	for watcher := range c.watchers {
		select {
		case watcher <- change:
		default:
			close(watcher)
			delete(c.watchers, watcher)
		}
	}
}
