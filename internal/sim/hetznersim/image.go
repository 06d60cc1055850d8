package hetznersim

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// image is what disks are made from. Only system images have names.
type image struct {
	common
	Type, Status, Description string
	SizeGB                    float64 // 0 while it is being made
	Disk                      int     // in GB
	From                      *imageSource
	BoundTo                   *int64 // the server of a backup
	Flavor, Version, Arch     string
	Protected                 bool
}

type imageSource struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

const kindImage = "image"

func (i *image) ref() ref { return ref{i.ID, kindImage} }

type imageView struct {
	ID           int64             `json:"id"`
	Type         string            `json:"type"`
	Status       string            `json:"status"`
	Name         *string           `json:"name"`
	Description  string            `json:"description"`
	Size         *float64          `json:"image_size"`
	Disk         int               `json:"disk_size"`
	Created      time.Time         `json:"created"`
	From         *imageSource      `json:"created_from"`
	BoundTo      *int64            `json:"bound_to"`
	Flavor       string            `json:"os_flavor"`
	Version      *string           `json:"os_version"`
	Rapid        bool              `json:"rapid_deploy"`
	Protection   protection        `json:"protection"`
	Deprecated   *string           `json:"deprecated"`
	Deprecation  *deprecation      `json:"deprecation"`
	Deleted      *string           `json:"deleted"`
	Labels       map[string]string `json:"labels"`
	Architecture string            `json:"architecture"`
}

func viewImage(i *image) imageView {
	v := imageView{ID: i.ID, Type: i.Type, Status: i.Status, Description: i.Description, Disk: i.Disk,
		Created: i.Created, From: i.From, BoundTo: i.BoundTo, Flavor: i.Flavor,
		Protection: protection{i.Protected}, Labels: filled(i.Labels), Architecture: i.Arch}
	if i.Name != "" {
		v.Name = &i.Name
	}
	if i.SizeGB > 0 {
		v.Size = &i.SizeGB
	}
	if i.Version != "" {
		v.Version = &i.Version
	}
	return v
}

// systemImages are Hetzner's own, as far as rescue systems and tests need them.
func systemImages() (all []*image) {
	for _, s := range []struct {
		id                                 int64 // of the one for x86; the next one is for arm
		name, flavor, version, description string
	}{
		{67794396, "debian-12", "debian", "12", "Debian 12"},
		{67794398, "debian-13", "debian", "13", "Debian 13"},
		{161547269, "ubuntu-24.04", "ubuntu", "24.04", "Ubuntu 24.04"},
	} {
		for i, arch := range []string{"x86", "arm"} {
			all = append(all, &image{
				common: common{ID: s.id + int64(i), Name: s.name, Created: time.Date(2025, 8, 11, 6, 0, 0, 0, time.UTC)},
				Type:   "system", Status: "available", Description: s.description, Disk: 5,
				Flavor: s.flavor, Version: s.version, Arch: arch,
			})
		}
	}
	return all
}

func imageRoutes() []route {
	const one = "/images/{id}"
	return []route{
		{http.MethodGet, "/images", listImages},
		{http.MethodGet, one, onImage(func(_ *call, i *image) (reply, error) { return ok(obj{kindImage: viewImage(i)}) })},
		{http.MethodPut, one, onImage(updateImage)},
		{http.MethodDelete, one, onImage(deleteImage)},
		{http.MethodPost, one + "/actions/change_protection", onImage(protectImage)},
	}
}

func onImage(do func(*call, *image) (reply, error)) handler {
	return on(kindImage, func(st *state) *table[image, *image] { return &st.images }, do)
}

func listImages(c *call) (reply, error) {
	l := rowsOf("images", &c.st.images, func(i *image) any { return viewImage(i) })
	for _, filter := range []struct {
		name string
		of   func(*image) string
	}{
		{"type", func(i *image) string { return i.Type }},
		{"status", func(i *image) string { return i.Status }},
		{"architecture", func(i *image) string { return i.Arch }},
		{"bound_to", func(i *image) string { return strconv.FormatInt(deref(i.BoundTo), 10) }},
	} {
		if wanted := c.query[filter.name]; len(wanted) > 0 {
			l = l.only(func(i *image) bool { return slices.Contains(wanted, filter.of(i)) })
		}
	}
	return l.answer(c)
}

func updateImage(c *call, i *image) (reply, error) {
	in, err := decode[struct {
		Description *string            `json:"description"`
		Type        string             `json:"type"`
		Labels      *map[string]string `json:"labels"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if i.Type == "system" {
		return reply{}, fail("forbidden", "insufficient permissions for this request")
	}
	var v invalid
	v.check(in.Type == "" || in.Type == "snapshot", "type", "Only a backup can become a snapshot.")
	if in.Labels != nil {
		checkLabels(&v, *in.Labels)
	}
	if err := v.err(); err != nil {
		return reply{}, err
	}
	i = c.st.images.change(i.ID, func(i *image) {
		if in.Description != nil {
			i.Description = *in.Description
		}
		if in.Type != "" {
			i.Type, i.BoundTo = in.Type, nil
		}
		if in.Labels != nil {
			i.Labels = *in.Labels
		}
	})
	return ok(obj{kindImage: viewImage(i)})
}

func deleteImage(c *call, i *image) (reply, error) {
	switch {
	case i.Type == "system":
		return reply{}, fail("forbidden", "insufficient permissions for this request")
	case i.Protected:
		return reply{}, isProtected(kindImage)
	case i.Status == "creating":
		return reply{}, fail("locked", "image is locked")
	}
	c.st.images.drop(i.ID)
	return noContent()
}

func protectImage(c *call, i *image) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	if i.Type != "snapshot" {
		return reply{}, fail("service_error", "only snapshots can be protected")
	}
	c.st.images.change(i.ID, func(i *image) { i.Protected = protect })
	return c.acted(c.done("change_protection", i.ref()))
}
