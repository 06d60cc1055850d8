package hetznersim

import "time"

// acpiTime is how long an operating system takes to go down when it is asked to.
const acpiTime = 10 * time.Second

// boot brings a server up: into the rescue system, once, if that is enabled.
func (st *state) boot(id int64) {
	s := st.servers.change(id, func(s *server) {
		s.Status, s.bootsRescue, s.Rescue = serverOn, s.Rescue, false
		s.boots++
	})
	if s != nil {
		st.note(MachineBooted, s)
	}
}

func (st *state) halt(id int64) {
	s := st.servers.change(id, func(s *server) { s.Status, s.bootsRescue = off, false })
	if s != nil {
		st.note(MachineHalted, s)
	}
}

func serverStarted(id int64) effect { return func(st *state, _ time.Time) { st.boot(id) } }
func serverHalted(id int64) effect  { return func(st *state, _ time.Time) { st.halt(id) } }

// powerOn does nothing, with success, to a server that runs.
func powerOn(c *call, s *server) (reply, error) {
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	j := job{command: "start_server", on: []ref{s.ref()}}
	if s.Status != serverOn {
		j.finish, j.undo = serverStarted(s.ID), serverHalted(s.ID)
		c.st.servers.change(s.ID, func(s *server) { s.Status = starting })
	}
	return c.acted(c.begin(j))
}

func powerOff(c *call, s *server) (reply, error) {
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	j := job{command: "stop_server", on: []ref{s.ref()}}
	if s.Status != off {
		j.finish = serverHalted(s.ID)
		j.undo = func(st *state, _ time.Time) {
			st.servers.change(s.ID, func(s *server) { s.Status = serverOn })
		}
		c.st.servers.change(s.ID, func(s *server) { s.Status = stopping })
	}
	return c.acted(c.begin(j))
}

// shutDown asks the operating system. The action only says that it was asked.
func shutDown(c *call, s *server) (reply, error) {
	if err := c.lock(s.ref()); err != nil {
		return reply{}, err
	}
	if s.Status == serverOn && !s.deaf {
		c.later(acpiTime, func(st *state, _ time.Time) {
			if now := st.servers.get(s.ID); now != nil && now.Status == serverOn && now.boots == s.boots {
				st.halt(s.ID)
			}
		})
	}
	return c.acted(c.begin(job{command: "shutdown_server", on: []ref{s.ref()}}))
}

// reboot is a soft reboot or a reset: both bring the server up again.
func reboot(command string) func(*call, *server) (reply, error) {
	return func(c *call, s *server) (reply, error) {
		if err := c.lock(s.ref()); err != nil {
			return reply{}, err
		}
		if s.Status != serverOn {
			return reply{}, fail("service_error", "server is not running")
		}
		j := job{command: command, on: []ref{s.ref()}, finish: serverStarted(s.ID)}
		if s.deaf && command == "reboot_server" {
			j.finish = nil
		}
		return c.acted(c.begin(j))
	}
}

// IgnoreShutdown lets a server's operating system ignore ACPI from now on: a
// shutdown or reboot then succeeds and does nothing.
func (s *Sim) IgnoreShutdown(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.state.servers.named(name); found != nil {
		s.state.servers.change(found.ID, func(s *server) { s.deaf = true })
	}
}
