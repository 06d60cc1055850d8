package hetznersim

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// rescueTime is after how long a rescue system that nobody boots is disabled.
const rescueTime = time.Hour

func serverActionRoutes() []route {
	const act = "/servers/{id}/actions/"
	return []route{
		{http.MethodPost, act + "enable_rescue", free(enableRescue)},
		{http.MethodPost, act + "disable_rescue", free(disableRescue)},
		{http.MethodPost, act + "create_image", free(createImage)},
		{http.MethodPost, act + "rebuild", free(rebuild)},
		{http.MethodPost, act + "change_type", free(changeServerType)},
		{http.MethodPost, act + "change_dns_ptr", free(pointServer)},
		{http.MethodPost, act + "enable_backup", free(setBackup("enable_backup", "22-02"))},
		{http.MethodPost, act + "disable_backup", free(setBackup("disable_backup", ""))},
	}
}

// free is a handler for a server on which no action runs.
func free(do func(*call, *server) (reply, error)) handler {
	return onServer(func(c *call, s *server) (reply, error) {
		if err := c.lock(s.ref()); err != nil {
			return reply{}, err
		}
		return do(c, s)
	})
}

func enableRescue(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Type string  `json:"type"`
		Keys []int64 `json:"ssh_keys"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Type != "" && in.Type != "linux64" {
		return reply{}, badField("type", "Must be one of: linux64.")
	}
	var keys []string
	for _, id := range in.Keys {
		k := c.st.sshKeys.get(id)
		if k == nil {
			return reply{}, notFound(kindSSHKey, id)
		}
		keys = append(keys, k.Key)
	}
	until := c.now.Add(rescueTime)
	c.st.servers.change(s.ID, func(s *server) { s.Rescue, s.RescueKeys, s.rescueUntil = true, keys, until })
	c.later(rescueTime, func(st *state, now time.Time) {
		st.servers.change(s.ID, func(s *server) { s.Rescue = s.Rescue && now.Before(s.rescueUntil) })
	})
	a := c.begin(job{command: "enable_rescue", on: []ref{s.ref()}})
	return created(obj{"action": a.view(c.now), "root_password": fmt.Sprintf("simulated-rescue-%d", a.ID)})
}

func disableRescue(c *call, s *server) (reply, error) {
	c.st.servers.change(s.ID, func(s *server) { s.Rescue = false })
	return c.acted(c.begin(job{command: "disable_rescue", on: []ref{s.ref()}}))
}

// snapshotShare is how much of a disk an image of it takes, compressed.
const snapshotShare = 0.05

func createImage(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Description *string           `json:"description"`
		Type        string            `json:"type"`
		Labels      map[string]string `json:"labels"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Type == "" || in.Type == "snapshot" || in.Type == "backup", "type", "Must be one of: snapshot, backup.")
	checkLabels(&v, in.Labels)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	if in.Type == "backup" && s.Backups == "" {
		return reply{}, fail("service_error", "backups are not enabled for the server")
	}
	snapshots := len(keep(c.st.images.rows, func(i *image) bool { return i.Type == "snapshot" }))
	if err := c.within(c.cfg.Limits.Snapshots, snapshots, "snapshot"); err != nil {
		return reply{}, err
	}
	i := c.imageOf(s, in.Labels)
	set(&i.Description, in.Description)
	if in.Type == "backup" {
		i.Type, i.BoundTo = "backup", &s.ID
	}
	c.st.images.put(i)
	c.st.noteImage(s, i.ID)
	a := c.begin(job{command: "create_image", on: []ref{s.ref(), i.ref()},
		finish: func(st *state, _ time.Time) {
			st.images.change(i.ID, func(i *image) { i.Status, i.SizeGB = "available", float64(i.Disk)*snapshotShare })
		},
		undo: func(st *state, _ time.Time) { st.images.drop(i.ID) },
	})
	return created(obj{kindImage: viewImage(i), "action": a.view(c.now)})
}

// imageOf is the snapshot of a server's disk that is about to be made.
func (c *call) imageOf(s *server, labels map[string]string) *image {
	i := &image{common: c.fresh("", labels), Type: "snapshot", Status: "creating", Disk: s.Disk,
		Description: "snapshot " + c.now.UTC().Format(time.DateTime),
		From:        &imageSource{s.ID, s.Name}, Flavor: "unknown", Arch: c.st.cat.serverType(idOrName(s.Type)).Arch}
	if from := c.st.images.get(s.Image); from != nil {
		i.Flavor, i.Version = from.Flavor, from.Version
	}
	return i
}

// rebuild writes an image over the disk, and starts the server.
func rebuild(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Image    idOrName `json:"image"`
		UserData *string  `json:"user_data"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Image != "", "image", missing)
	v.check(len(deref(in.UserData)) <= maxUserData, "user_data", "Length must be between 0 and %d.", maxUserData)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	if s.Protected {
		return reply{}, fail("protected", "server rebuild is protected")
	}
	i, err := c.st.imageFor(in.Image, c.st.cat.serverType(idOrName(s.Type)))
	if err != nil {
		return reply{}, err
	}
	c.st.servers.change(s.ID, func(s *server) { s.Status = rebuilding })
	a := c.begin(job{command: "rebuild_server", on: []ref{s.ref()},
		finish: func(st *state, _ time.Time) {
			next := st.servers.change(s.ID, func(s *server) {
				s.Image, s.Rescue = i.ID, false
				set(&s.UserData, in.UserData)
			})
			st.note(MachineRebuilt, next)
			st.boot(s.ID)
		},
		undo: func(st *state, _ time.Time) {
			st.servers.change(s.ID, func(now *server) { now.Status = s.Status })
		},
	})
	return created(obj{"action": a.view(c.now), "root_password": nil})
}

// changeServerType moves a server that is off to another type, and starts it
// again.
func changeServerType(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Type    idOrName `json:"server_type"`
		Upgrade *bool    `json:"upgrade_disk"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Type != "", "server_type", missing)
	v.check(in.Upgrade != nil, "upgrade_disk", missing)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	to, err := c.rescaled(s, in.Type)
	if err != nil {
		return reply{}, err
	}
	c.st.servers.change(s.ID, func(s *server) { s.Status = migrating })
	return c.acted(c.begin(job{command: "change_server_type", on: []ref{s.ref()},
		finish: func(st *state, _ time.Time) {
			st.servers.change(s.ID, func(s *server) {
				s.Type, s.Status = to.Name, off
				if *in.Upgrade {
					s.Disk = to.Disk
				}
			})
			if !c.cfg.RescaledStaysOff {
				st.boot(s.ID)
			}
		},
		undo: serverHalted(s.ID),
	}))
}

// rescaled finds the type that a server is to get, if it can get it.
func (c *call) rescaled(s *server, wanted idOrName) (*serverType, error) {
	from, to := c.st.cat.serverType(idOrName(s.Type)), c.st.cat.serverType(wanted)
	switch {
	case s.Status != off:
		return nil, fail("server_not_stopped", "server must be stopped before changing its type")
	case to == nil:
		return nil, badField("server_type", "server type %q not found", wanted)
	case to.Deprecated != nil, to.Arch != from.Arch, to == from, to.Disk < s.Disk:
		return nil, fail("invalid_server_type", "server type %s does not fit for the server", to.Name)
	}
	if err := c.withinCores(to, from); err != nil {
		return nil, err
	}
	return to, c.st.checkStock(c.st.cat.location(s.Location), to)
}

// pointServer changes the reverse DNS of a server's own addresses.
func pointServer(c *call, s *server) (reply, error) {
	ids := slices.DeleteFunc([]int64{s.IPv4, s.IPv6}, func(id int64) bool { return id == 0 })
	last := badField("ip", "The server has no public address.")
	for _, id := range ids {
		r, err := c.pointPrimary(c.st.primaryIPs.get(id), s.ref())
		if err == nil {
			return r, nil
		}
		last = err
	}
	return reply{}, last
}

func setBackup(command, window string) func(*call, *server) (reply, error) {
	return func(c *call, s *server) (reply, error) {
		c.st.servers.change(s.ID, func(s *server) { s.Backups = window })
		if window == "" {
			c.st.dropBackups(s.ID)
		}
		return c.acted(c.begin(job{command: command, on: []ref{s.ref()}}))
	}
}

// dropBackups removes the backups of a server.
func (st *state) dropBackups(server int64) {
	for _, i := range keep(st.images.rows, func(i *image) bool { return deref(i.BoundTo) == server }) {
		st.images.drop(i.ID)
	}
}
