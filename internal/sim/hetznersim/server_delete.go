package hetznersim

import (
	"net/http"
	"time"
)

func deleteServer(c *call, s *server) (reply, error) {
	if s.Protected {
		return reply{}, isProtected(kindServer)
	}
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	before := s.Status
	c.st.servers.change(s.ID, func(s *server) { s.Status = deleting })
	a := c.begin(job{command: "delete_server", on: []ref{s.ref()}, finish: dropServer(s.ID),
		undo: func(st *state, _ time.Time) {
			st.servers.change(s.ID, func(s *server) { s.Status = before })
		}})
	return reply{http.StatusOK, obj{"action": a.view(c.now)}}, nil
}

// dropServer removes a server: its own primary IPs and backups die with it, and
// everything else is detached.
func dropServer(id int64) effect {
	return func(st *state, _ time.Time) {
		s := st.servers.get(id)
		if s == nil {
			return
		}
		st.releasePrimaries(s.ref())
		st.releaseFloating(id)
		st.unplugVolumes(id)
		st.leaveFirewalls(id)
		st.leaveBalancers(id)
		st.dropBackups(id)
		st.servers.drop(id)
		st.note(MachineDeleted, s)
	}
}
