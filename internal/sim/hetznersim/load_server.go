package hetznersim

// servers loads servers, with what they are connected to.
func (l *loader) servers() error {
	type address struct {
		ID int64 `json:"id"`
	}
	type seen struct {
		seenHead
		Status    string `json:"status"`
		PublicNet struct {
			IPv4, IPv6 *address
		} `json:"public_net"`
		PrivateNet []privateNetView `json:"private_net"`
		Type       seenNamed        `json:"server_type"`
		Location   seenNamed        `json:"location"`
		Image      *seenNamed       `json:"image"`
		ISO        *seenNamed       `json:"iso"`
		Rescue     bool             `json:"rescue_enabled"`
		Backups    *string          `json:"backup_window"`
		Disk       int              `json:"primary_disk_size"`
		Group      *seenNamed       `json:"placement_group"`
	}
	return fill(l, &l.st.servers, "servers", func(s seen) *server {
		loaded := &server{common: l.common(s.seenHead), Status: s.Status, Type: s.Type.Name, Location: s.Location.Name, Disk: s.Disk,
			Image: deref(s.Image).ID, ISO: deref(s.ISO).ID, Group: deref(s.Group).ID, Rescue: s.Rescue, Backups: deref(s.Backups),
			IPv4: deref(s.PublicNet.IPv4).ID, IPv6: deref(s.PublicNet.IPv6).ID, Protected: s.Protection.Delete}
		for _, n := range s.PrivateNet {
			loaded.Nets = append(loaded.Nets, attachment{Network: n.Network, IP: n.IP, Alias: n.Alias, MAC: n.MAC, status: memberOK})
		}
		return loaded
	})
}

func (l *loader) primaryIPs() error {
	type seen struct {
		seenHead
		IP         string    `json:"ip"`
		Type       string    `json:"type"`
		Pointers   []dnsPtr  `json:"dns_ptr"`
		Location   seenNamed `json:"location"`
		AutoDelete bool      `json:"auto_delete"`
		Assignee   string    `json:"assignee_type"`
		AssigneeID *int64    `json:"assignee_id"`
	}
	return fill(l, &l.st.primaryIPs, "primary_ips", func(p seen) *primaryIP {
		loaded := &primaryIP{common: l.common(p.seenHead), Location: p.Location.Name, AutoDelete: p.AutoDelete,
			publicIP: publicIP{Type: p.Type, IP: p.IP, Pointers: p.Pointers, Protected: p.Protection.Delete}}
		if p.AssigneeID != nil {
			loaded.Of = ref{*p.AssigneeID, p.Assignee}
		}
		return loaded
	})
}

func (l *loader) floatingIPs() error {
	type seen struct {
		seenHead
		Description *string   `json:"description"`
		IP          string    `json:"ip"`
		Type        string    `json:"type"`
		Server      *int64    `json:"server"`
		Pointers    []dnsPtr  `json:"dns_ptr"`
		Home        seenNamed `json:"home_location"`
	}
	return fill(l, &l.st.floatingIPs, "floating_ips", func(f seen) *floatingIP {
		return &floatingIP{common: l.common(f.seenHead), Description: f.Description, Home: f.Home.Name, Server: deref(f.Server),
			publicIP: publicIP{Type: f.Type, IP: f.IP, Pointers: f.Pointers, Protected: f.Protection.Delete}}
	})
}

// seenTarget is what a load balancer sends to, as the API shows it.
type seenTarget struct {
	target
	IP *struct {
		IP string `json:"ip"`
	} `json:"ip"`
	UsePrivateIP bool `json:"use_private_ip"`
}

// balancers loads load balancers. Their targets have been there for long, so that
// they are as healthy as their servers.
func (l *loader) balancers() error {
	type seen struct {
		seenHead
		PublicNet  lbPublicNet    `json:"public_net"`
		PrivateNet []lbPrivateNet `json:"private_net"`
		Type       seenNamed      `json:"load_balancer_type"`
		Location   seenNamed      `json:"location"`
		Services   []service      `json:"services"`
		Targets    []seenTarget   `json:"targets"`
		Algorithm  struct {
			Type string `json:"type"`
		} `json:"algorithm"`
	}
	return fill(l, &l.st.balancers, "load_balancers", func(b seen) *balancer {
		loaded := &balancer{common: l.common(b.seenHead), Type: b.Type.Name, Location: b.Location.Name, Services: b.Services,
			Algorithm: b.Algorithm.Type, Private: !b.PublicNet.Enabled, Protected: b.Protection.Delete,
			IPv4: l.address(b.PublicNet.IPv4, b.ID, "ipv4", b.Location.Name), IPv6: l.address(b.PublicNet.IPv6, b.ID, "ipv6", b.Location.Name)}
		for _, n := range b.PrivateNet {
			loaded.Net = &attachment{Network: n.Network, IP: n.IP, status: memberOK}
		}
		for _, t := range b.Targets {
			loaded.Targets = append(loaded.Targets, lbTarget{target: t.target, IP: t.IP, UsePrivateIP: t.UsePrivateIP})
		}
		return loaded
	})
}

// address is the primary IP of a load balancer. Where the API shows no id for it, it is
// one of its own.
func (l *loader) address(seen lbPublicIP, balancer int64, kind, location string) int64 {
	if seen.ID != 0 || seen.IP == "" {
		return seen.ID
	}
	p := &primaryIP{common: common{ID: l.st.newID()}, publicIP: publicIP{Type: kind, IP: seen.IP}, Location: location,
		Of: ref{balancer, kindLoadBalancer}, AutoDelete: true}
	l.st.primaryIPs.put(p)
	return p.ID
}

// catalogue loads what Hetzner sells, where that was asked.
func (l *loader) catalogue() error {
	next := *l.st.cat
	if len(l.from["locations"]) > 0 {
		next.locations = nil
	}
	if err := each(l, "locations", func(at location) { next.locations = append(next.locations, &at) }); err != nil {
		return err
	}
	if len(l.from["server_types"]) > 0 {
		next.types, l.st.stock = nil, nil
	}
	if err := each(l, "server_types", func(t seenType) { l.serverType(&next, t) }); err != nil {
		return err
	}
	if len(l.from["load_balancer_types"]) > 0 {
		next.lbTypes = nil
	}
	type seenLB struct {
		lbTypeView
		Prices []price `json:"prices"`
	}
	err := each(l, "load_balancer_types", func(t seenLB) {
		next.lbTypes = append(next.lbTypes, &lbType{t.ID, t.Name, t.Connections, t.Services, t.Targets, t.Certs, t.Prices})
	})
	if err != nil {
		return err
	}
	if sold := l.from["pricing"]; len(sold) > 0 {
		next.pricing = sold[0]
	}
	l.st.cat = &next
	return nil
}

// seenType is a kind of server as the API shows it. Memory may be a fraction.
type seenType struct {
	seenNamed
	Cores       int          `json:"cores"`
	Memory      float64      `json:"memory"`
	Disk        int          `json:"disk"`
	Arch        string       `json:"architecture"`
	CPU         string       `json:"cpu_type"`
	Category    string       `json:"category"`
	Prices      []price      `json:"prices"`
	Deprecation *deprecation `json:"deprecation"`
	Locations   []struct {
		Name      string `json:"name"`
		Available *bool  `json:"available"`
	} `json:"locations"`
}

// serverType loads a kind of server, and where it cannot be had now.
func (l *loader) serverType(into *catalogue, t seenType) {
	into.types = append(into.types, &serverType{t.ID, t.Name, t.Cores, int(t.Memory), t.Disk, t.Arch, t.CPU, t.Category, t.Prices, t.Deprecation})
	for _, at := range t.Locations {
		if at.Available != nil && !*at.Available && t.Deprecation == nil {
			l.st.stock = append(l.st.stock, soldOut{at.Name, t.Name, SoldOut})
		}
	}
}
