package talossim

import (
	"strconv"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"
)

// emitStage tells who listens which stage the machine is in.
func (m *Machine) emitStage() {
	stage := machine.MachineStatusEvent_MachineStage(machine.MachineStatusEvent_MachineStage_value[eventStages[m.stage]])
	data, err := anypb.New(&machine.MachineStatusEvent{
		Stage: stage, Status: &machine.MachineStatusEvent_MachineStatus{Ready: m.stage == stageRunning},
	})
	if err != nil {
		panic(err) // it was made here
	}
	id := "event-" + strconv.FormatUint(m.fleet.newNumber("event"), 36)
	m.log = append(m.log, &machine.Event{Data: data, Id: id, ActorId: m.actor})
	m.wake()
}

// eventStages are stages as events name them.
var eventStages = map[string]string{
	stageBooting: "BOOTING", stageInstalling: "INSTALLING", stageMaintenance: "MAINTENANCE", stageRunning: "RUNNING",
	stageRebooting: "REBOOTING", stageResetting: "RESETTING", stageShutdown: "SHUTTING_DOWN", stageUpgrading: "UPGRADING",
}

// forget begins a new log: events do not survive a boot.
func (m *Machine) forget() {
	m.log, m.actor = nil, ""
	m.wake()
}

func (m *Machine) wake() {
	close(m.logged)
	m.logged = make(chan struct{})
}

// Events streams what happens, after what has happened if a tail is wanted.
func (s *service) Events(r *machine.EventsRequest, stream grpc.ServerStreamingServer[machine.Event]) error {
	if err := stream.Send(&machine.Event{}); err != nil { // says that it has begun
		return err
	}
	sent := -1
	for {
		var news []*machine.Event
		var more <-chan struct{}
		err := s.do(stream.Context(), func() error {
			if sent < 0 {
				sent = s.m.tail(r.GetTailEvents())
			}
			news, more = s.m.log[min(sent, len(s.m.log)):], s.m.logged
			sent = len(s.m.log)
			return nil
		})
		if err != nil {
			return err
		}
		for _, e := range news {
			if actor := r.GetWithActorId(); actor != "" && actor != e.GetActorId() {
				continue
			}
			if err := stream.Send(e); err != nil {
				return err
			}
		}
		select {
		case <-more:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// tail returns from where on in the log somebody wants to see it: as many as are
// asked for, all with a negative number.
func (m *Machine) tail(n int32) int {
	if n < 0 {
		return 0
	}
	return max(0, len(m.log)-int(n))
}
