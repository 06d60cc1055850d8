package robot

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/printable"
)

//go:embed disks.sh
var disksScript string

// hardware is a machine, as its rescue system describes it.
type hardware struct {
	architecture string // as Talos names it
	disks        []disk
}

// disk is one that Talos may be installed on.
type disk struct {
	node.Disk
	table string   // of its partitions, or its file system; empty: none
	parts []string // the labels of its partitions, or their file systems
}

// blockDevice is a device in the words of lsblk.
type blockDevice struct {
	Path      string        `json:"path"`
	Type      string        `json:"type"`
	Size      uint64        `json:"size"`
	ReadOnly  bool          `json:"ro"`
	Rotating  bool          `json:"rota"`
	Transport string        `json:"tran"`
	Model     string        `json:"model"`
	Serial    string        `json:"serial"`
	WWN       string        `json:"wwn"`
	Table     string        `json:"pttype"`
	System    string        `json:"fstype"`
	Label     string        `json:"partlabel"`
	Children  []blockDevice `json:"children"`
}

// architectures are those of the kernel, as Talos names them.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// parseHardware reads what disks.sh prints.
func parseHardware(text string) (h hardware, err error) {
	head, list, found := strings.Cut(text, "{")
	links := map[string][]string{}
	for _, line := range strings.Split(head, "\n") {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == "arch":
			h.architecture = architectures[words[1]]
		case len(words) == 3 && words[0] == "link":
			device := path.Join("/dev", path.Base(words[2]))
			links[device] = append(links[device], words[1])
		}
	}
	var answer struct {
		Devices []blockDevice `json:"blockdevices"`
	}
	if err := json.Unmarshal([]byte("{"+list), &answer); !found || err != nil || h.architecture == "" {
		return h, diag.On("rescue system", "what it says of its disks cannot be read").WithCode(diag.Remote)
	}
	for _, d := range answer.Devices {
		if d.Type == "disk" && d.Size > 0 && !d.ReadOnly {
			h.disks = append(h.disks, d.disk(links[d.Path]))
		}
	}
	return h, nil
}

func (d blockDevice) disk(links []string) disk {
	wwid := d.WWN
	if rest, found := strings.CutPrefix(wwid, "0x"); found {
		wwid = "naa." + rest // as Talos names it
	}
	found := disk{table: d.Table, Disk: node.Disk{
		DevPath: d.Path, Size: d.Size, Model: strings.TrimSpace(d.Model), Serial: strings.TrimSpace(d.Serial), WWID: wwid,
		Rotational: d.Rotating, Transport: d.Transport, Symlinks: links,
	}}
	if found.table == "" {
		found.table = d.System
	}
	for _, part := range d.Children {
		label := part.Label
		if label == "" {
			label = part.System
		}
		if label == "" {
			label = path.Base(part.Path)
		}
		found.parts = append(found.parts, label)
	}
	return found
}

// choose finds the one disk that a selector means.
func (h hardware) choose(selector *node.DiskSelector) (disk, error) {
	var fits []disk
	for _, d := range h.disks {
		ok, err := selector.Matches(d.Disk)
		if err != nil {
			return disk{}, err
		}
		if ok {
			fits = append(fits, d)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	problem := diag.On("disk "+selector.String(), "the server has none: it has %s", h.describe(h.disks)).WithCode(diag.Usage)
	if len(fits) > 1 {
		problem = diag.On("disk "+selector.String(), "several fit: %s", h.describe(fits)).WithCode(diag.Usage)
	}
	return disk{}, problem.WithHint("name one by a link that stays, such as /dev/disk/by-id/…, as installDisk in cluster.yaml")
}

func (h hardware) describe(disks []disk) string {
	var all []string
	for _, d := range disks {
		all = append(all, d.String())
	}
	return strings.Join(all, ", ")
}

// String is the disk with what tells it from others.
func (d disk) String() string {
	stays := ""
	for _, link := range d.Symlinks {
		if strings.HasPrefix(link, "/dev/disk/by-id/") && (stays == "" || strings.HasPrefix(path.Base(link), "wwn-")) {
			stays = ", " + link
		}
	}
	return printable.Line(fmt.Sprintf("%s (%s %s, %d GB%s)", d.DevPath, d.Model, d.Serial, d.Size/1_000_000_000, stays))
}

// talosParts are the partitions of a disk image of Talos that was never configured.
var talosParts = []string{"EFI", "BIOS", "BOOT", "META", "STATE"}

// holds says what would be lost that somebody may need; empty: nothing.
func (d disk) holds() string {
	foreign := func(label string) bool { return !slices.Contains(talosParts, label) }
	switch {
	case slices.ContainsFunc(d.parts, foreign):
		return "the partitions " + printable.Line(strings.Join(d.parts, ", "))
	case len(d.parts) == 0 && d.table != "" && d.table != "gpt":
		return "something that is " + printable.Line(d.table)
	}
	return ""
}
