package hetznersim

import "net/http"

// iso is a medium that a server can have in its drive. Nothing boots from it here.
type iso struct {
	ID           int64        `json:"id"`
	Name         string       `json:"name"`
	Description  string       `json:"description"`
	Type         string       `json:"type"`
	Architecture *string      `json:"architecture"` // nil for any
	Deprecation  *deprecation `json:"deprecation"`
}

// isos are some of those that Hetzner offers.
func isos() []*iso {
	x86, arm := "x86", "arm"
	return []*iso{
		{ID: 120391, Name: "talos-linux-metal-amd64.iso", Description: "Talos Linux", Type: "public", Architecture: &x86},
		{ID: 120392, Name: "talos-linux-metal-arm64.iso", Description: "Talos Linux", Type: "public", Architecture: &arm},
		{ID: 8637, Name: "latest-virtio-win.iso", Description: "virtio drivers", Type: "public", Architecture: &x86},
		{ID: 57443, Name: "SW_DVD9_Win_Server_STD_CORE_2022__64Bit_German_DC_STD_MLF_X22-74292.iso", Description: "Windows Server 2022 German", Type: "public", Architecture: &x86},
	}
}

func isoRoutes() []route {
	const act = "/servers/{id}/actions/"
	return append(shelf("iso", func(c *catalogue) []*iso { return c.isos },
		func(i *iso) *common { return &common{ID: i.ID, Name: i.Name} },
		func(_ *state, i *iso) any { return i }),
		route{http.MethodPost, act + "attach_iso", free(attachISO)},
		route{http.MethodPost, act + "detach_iso", free(detachISO)},
	)
}

// pickISO finds a medium by its name or ID.
func (c *catalogue) pickISO(v idOrName) *iso {
	id, _ := v.id()
	return find(c.isos, func(i *iso) bool { return i.Name == string(v) || i.ID == id })
}

func attachISO(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		ISO idOrName `json:"iso"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.ISO == "" {
		return reply{}, badField("iso", missing)
	}
	i := c.st.cat.pickISO(in.ISO)
	switch {
	case i == nil:
		return reply{}, notFound("iso", in.ISO)
	case i.Architecture != nil && *i.Architecture != c.st.cat.serverType(idOrName(s.Type)).Arch:
		return reply{}, fail("invalid_input", "ISO does not fit the architecture of the server")
	}
	c.st.servers.change(s.ID, func(s *server) { s.ISO = i.ID })
	return c.acted(c.begin(job{command: "attach_iso", on: []ref{s.ref()}}))
}

func detachISO(c *call, s *server) (reply, error) {
	c.st.servers.change(s.ID, func(s *server) { s.ISO = 0 })
	return c.acted(c.begin(job{command: "detach_iso", on: []ref{s.ref()}}))
}
