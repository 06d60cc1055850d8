package talossim

import (
	"context"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/sorting"
)

// serviceState is a service of Talos.
type serviceState struct {
	name, state, message string
	healthy, known       bool
}

func running(name string, healthy bool) serviceState {
	return serviceState{name: name, state: "Running", healthy: healthy, known: true, message: "Health check successful"}
}

func waiting(name, state, message string) serviceState {
	return serviceState{name: name, state: state, message: message}
}

// ServiceList lists the services.
func (s *service) ServiceList(ctx context.Context, _ *emptypb.Empty) (r *machine.ServiceListResponse, err error) {
	err = s.do(ctx, func() error {
		list := &machine.ServiceList{}
		for _, v := range s.m.serviceStates() {
			list.Services = append(list.Services, v.proto())
		}
		r = &machine.ServiceListResponse{Messages: []*machine.ServiceList{list}}
		return nil
	})
	return r, err
}

func (v serviceState) proto() *machine.ServiceInfo {
	health := &machine.ServiceHealth{Unknown: !v.known, Healthy: v.healthy}
	if v.known {
		health.LastMessage = v.message
		if v.healthy {
			health.LastMessage = ""
		}
	}
	return &machine.ServiceInfo{
		Id: v.name, State: v.state, Health: health,
		Events: &machine.ServiceEvents{Events: []*machine.ServiceEvent{{Msg: v.message, State: v.state}}},
	}
}

// serviceStates are the services in the order of their names.
func (m *Machine) serviceStates() []serviceState {
	all := []serviceState{running("apid", true), running("machined", true), running("containerd", true), running("udevd", true)}
	if m.active != nil && !m.leaving() && m.stage != stageInstalling {
		all = append(all, m.afterServices("cri"), m.afterServices("kubelet"))
		if m.controlPlane() {
			all = append(all, m.afterServices("trustd"), m.etcdService())
		}
	}
	sorting.By(all, func(a, b serviceState) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return all
}

// afterServices is a service that starts with the others.
func (m *Machine) afterServices(name string) serviceState {
	switch {
	case m.services:
		return running(name, true)
	case m.synced:
		return waiting(name, "Starting", "Starting service")
	}
	return waiting(name, "Waiting", "Waiting for time sync")
}

// etcdService is etcd, in one of the states by which a client tells whether
// there is data.
func (m *Machine) etcdService() serviceState {
	const name = "etcd"
	switch own := m.member(); {
	case m.run.stopped:
		return waiting(name, "Finished", "Service finished successfully")
	case m.run.failed != "":
		return waiting(name, "Failed", m.run.failed)
	case m.run.serving && own != nil && own.learner:
		return serviceState{name: name, state: "Running", known: true, message: "etcdserver: rpc not supported for learner"}
	case m.run.serving && !m.etcd.cluster.quorum():
		return serviceState{name: name, state: "Running", known: true, message: "context deadline exceeded"}
	case m.run.serving:
		return running(name, true)
	case !m.services:
		return m.afterServices(name)
	case m.etcd.cluster != nil || m.run.bootstrapped:
		return waiting(name, "Preparing", "Creating service runner")
	}
	return waiting(name, "Preparing", "Running pre state")
}
