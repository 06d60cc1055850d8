package hetznersim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
)

// volume is a disk that can be attached to a server.
type volume struct {
	common
	Status    string
	Server    int64  // 0 while it is detached
	Location  string // the name of a location
	Size      int    // in GB
	Format    *string
	Protected bool
}

const kindVolume = "volume"

// Sizes of volumes, in GB, how many a server can have, and how long a name is.
const (
	minVolume     = 10
	maxVolume     = 10240
	maxVolumes    = 16
	maxVolumeName = 64
)

// volumeName is what Hetzner takes.
var volumeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$`)
})

func (v *volume) ref() ref { return ref{v.ID, kindVolume} }

type volumeView struct {
	ID         int64             `json:"id"`
	Created    time.Time         `json:"created"`
	Name       string            `json:"name"`
	Server     *int64            `json:"server"`
	Location   *location         `json:"location"`
	Size       int               `json:"size"`
	Device     string            `json:"linux_device"`
	Protection protection        `json:"protection"`
	Labels     map[string]string `json:"labels"`
	Status     string            `json:"status"`
	Format     *string           `json:"format"`
}

func (st *state) viewVolume(d *volume) volumeView {
	v := volumeView{ID: d.ID, Created: d.Created, Name: d.Name, Location: st.cat.location(d.Location), Size: d.Size,
		Device:     fmt.Sprintf("/dev/disk/by-id/scsi-0HC_Volume_%d", d.ID),
		Protection: protection{d.Protected}, Labels: filled(d.Labels), Status: d.Status, Format: d.Format}
	if d.Server != 0 {
		v.Server = &d.Server
	}
	return v
}

// volumesOf are the volumes of a server.
func (st *state) volumesOf(server int64) []int64 {
	ids := []int64{}
	for _, d := range st.volumes.rows {
		if d.Server == server {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// unplugVolumes detaches the volumes of a server that is deleted.
func (st *state) unplugVolumes(server int64) {
	for _, id := range st.volumesOf(server) {
		st.volumes.change(id, func(d *volume) { d.Server = 0 })
	}
}

// plugVolume attaches a volume to a server in the same location.
func (st *state) plugVolume(id, server int64) error {
	d, s := st.volumes.get(id), st.servers.get(server)
	switch {
	case d == nil:
		return notFound(kindVolume, id)
	case s == nil:
		return notFound(kindServer, server)
	case d.Server != 0:
		return fail("volume_already_attached", "volume is already attached to a server")
	case d.Location != s.Location:
		return fail("invalid_input", "volume and server must be in the same location")
	case st.busy(s.ref()) && s.Status != initializing:
		return fail("locked", "server is locked")
	case len(st.volumesOf(server)) >= maxVolumes:
		return overLimit("volume limit of the server exceeded", "volumes_per_server")
	}
	st.volumes.change(id, func(d *volume) { d.Server = server })
	return nil
}

func volumeRoutes() []route {
	const one = "/volumes/{id}"
	return []route{
		{http.MethodGet, "/volumes", listVolumes},
		{http.MethodPost, "/volumes", createVolume},
		{http.MethodGet, one, onVolume(func(c *call, d *volume) (reply, error) { return ok(obj{kindVolume: c.st.viewVolume(d)}) })},
		{http.MethodPut, one, onVolume(updateVolume)},
		{http.MethodDelete, one, onVolume(deleteVolume)},
		{http.MethodPost, one + "/actions/attach", onVolume(attachVolume)},
		{http.MethodPost, one + "/actions/detach", onVolume(detachVolume)},
		{http.MethodPost, one + "/actions/resize", onVolume(resizeVolume)},
		{http.MethodPost, one + "/actions/change_protection", onVolume(protectVolume)},
	}
}

func onVolume(do func(*call, *volume) (reply, error)) handler {
	return on(kindVolume, func(st *state) *table[volume, *volume] { return &st.volumes }, do)
}

func listVolumes(c *call) (reply, error) {
	l := rowsOf("volumes", &c.st.volumes, func(d *volume) any { return c.st.viewVolume(d) })
	if wanted := c.query["status"]; len(wanted) > 0 {
		l = l.only(func(d *volume) bool { return slices.Contains(wanted, d.Status) })
	}
	return l.answer(c)
}

func createVolume(c *call) (reply, error) {
	in, err := decode[struct {
		Name     string            `json:"name"`
		Size     int               `json:"size"`
		Labels   map[string]string `json:"labels"`
		Format   *string           `json:"format"`
		Location idOrName          `json:"location"`
		Server   int64             `json:"server"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	v.check(in.Size >= minVolume && in.Size <= maxVolume, "size", "Must be between %d and %d.", minVolume, maxVolume)
	v.check(in.Format == nil || *in.Format == "xfs" || *in.Format == "ext4", "format", "Must be one of: xfs, ext4.")
	v.check(in.Name == "" || len(in.Name) <= maxVolumeName && volumeName().MatchString(in.Name), "name", "Must be a valid name of at most %d characters.", maxVolumeName)
	v.check((in.Location == "") != (in.Server == 0), "location", "Either location or server is required.")
	if err := named(&v, kindVolume, &c.st.volumes, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(c.cfg.Limits.Volumes, len(c.st.volumes.rows), kindVolume); err != nil {
		return reply{}, err
	}
	d := &volume{common: c.fresh(in.Name, in.Labels), Status: "creating", Size: in.Size, Format: in.Format}
	if d.Location, err = c.besides(in.Server, in.Location); err != nil {
		return reply{}, err
	}
	c.st.volumes.put(d)
	a := c.begin(job{command: "create_volume", on: []ref{d.ref()},
		finish: func(st *state, _ time.Time) {
			st.volumes.change(d.ID, func(d *volume) { d.Status = "available" })
		},
		undo: func(st *state, _ time.Time) { st.volumes.drop(d.ID) },
	})
	next := []*action{}
	if in.Server != 0 {
		if err := c.st.plugVolume(d.ID, in.Server); err != nil {
			return reply{}, err
		}
		next = append(next, c.begin(job{command: "attach_volume", on: []ref{d.ref(), {in.Server, kindServer}}, after: a}))
	}
	return created(obj{kindVolume: c.st.viewVolume(c.st.volumes.get(d.ID)), "action": a.view(c.now), "next_actions": c.actions(next...)})
}

// besides is the location of a server, or the one that is named if there is
// none.
func (c *call) besides(server int64, named idOrName) (string, error) {
	if server == 0 {
		if l := c.st.cat.pickLocation(named); l != nil {
			return l.Name, nil
		}
		return "", fail("invalid_input", "location %q not found", named)
	}
	if s := c.st.servers.get(server); s != nil {
		return s.Location, nil
	}
	return "", notFound(kindServer, server)
}

func updateVolume(c *call, d *volume) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if d, err = apply(in, kindVolume, &c.st.volumes, d); err != nil {
		return reply{}, err
	}
	return ok(obj{kindVolume: c.st.viewVolume(d)})
}

func deleteVolume(c *call, d *volume) (reply, error) {
	switch {
	case d.Protected:
		return reply{}, isProtected(kindVolume)
	case d.Server != 0:
		return reply{}, fail("service_error", "volume is attached to a server and must be detached first")
	}
	if err := c.lock(d.ref()); err != nil {
		return reply{}, err
	}
	c.st.volumes.drop(d.ID)
	return noContent()
}

func attachVolume(c *call, d *volume) (reply, error) {
	in, err := decode[struct {
		Server int64 `json:"server"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(d.ref()); err != nil {
		return reply{}, err
	}
	if err := c.st.plugVolume(d.ID, in.Server); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: "attach_volume", on: []ref{d.ref(), {in.Server, kindServer}}, undo: unplug(d.ID)}))
}

func unplug(id int64) effect {
	return func(st *state, _ time.Time) { st.volumes.change(id, func(d *volume) { d.Server = 0 }) }
}

func detachVolume(c *call, d *volume) (reply, error) {
	if err := c.lock(d.ref()); err != nil {
		return reply{}, err
	}
	if d.Server == 0 {
		return reply{}, fail("service_error", "volume is not attached to a server")
	}
	if err := c.lock(ref{d.Server, kindServer}); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: "detach_volume", on: []ref{d.ref(), {d.Server, kindServer}}, finish: unplug(d.ID)}))
}

func resizeVolume(c *call, d *volume) (reply, error) {
	in, err := decode[struct {
		Size int `json:"size"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.lock(d.ref()); err != nil {
		return reply{}, err
	}
	if in.Size <= d.Size || in.Size > maxVolume {
		return reply{}, badField("size", "Must be between %d and %d.", d.Size+1, maxVolume)
	}
	return c.acted(c.begin(job{command: "resize_volume", on: []ref{d.ref()}, finish: func(st *state, _ time.Time) {
		st.volumes.change(d.ID, func(d *volume) { d.Size = in.Size })
	}}))
}

func protectVolume(c *call, d *volume) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	c.st.volumes.change(d.ID, func(d *volume) { d.Protected = protect })
	return c.acted(c.done("change_protection", d.ref()))
}
