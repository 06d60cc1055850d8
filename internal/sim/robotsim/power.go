package robotsim

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/rescuesim"
)

// reset presses the reset button.
func (s *Sim) reset(m *server) {
	s.machines.Stop(m.Number)
	if m.system && s.o.Halted != nil {
		s.o.Halted(m.Server)
	}
	m.system, m.sshUp, m.boots, m.at = false, false, nil, s.o.Clock.Now()
	m.restarted++
	if m.rescue != nil {
		m.boots, m.last, m.rescue = m.rescue, m.rescue, nil
		return
	}
	m.system = true
	if s.o.Started != nil {
		s.o.Started(m.Server)
	}
}

// settle lets happen what is due.
func (s *Sim) settle() {
	for _, m := range s.servers {
		passed := s.o.Clock.Now().Sub(m.at)
		if m.boots == nil || passed < s.o.Boot {
			continue
		}
		if m.boots.host == nil {
			m.boots.host = s.hostKey()
		}
		if !m.sshUp && (s.o.Boot == 0 || passed >= s.o.Boot+sshAfter) {
			m.sshUp = true
			s.machines.Start(s.bootOf(m))
		}
	}
}

// hostKey is a new one.
func (s *Sim) hostKey() ssh.Signer {
	_, private, err := ed25519.GenerateKey(s.o.Random)
	if err != nil {
		panic("robotsim: no randomness: " + err.Error())
	}
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		panic("robotsim: " + err.Error())
	}
	return signer
}

// bootOf is the rescue system that a server starts.
func (s *Sim) bootOf(m *server) rescuesim.Boot {
	b := rescuesim.Boot{ID: m.Number, Address: m.IP, Host: m.boots.host, Describe: s.describe(m)}
	if m.impostor {
		b.Host = s.hostKey()
	}
	for _, k := range m.boots.keys {
		b.Keys = append(b.Keys, k.Data)
	}
	for _, d := range m.Disks {
		b.Disks = append(b.Disks, d.Path)
	}
	return b
}

// device is a disk or a partition, as lsblk describes it.
type device struct {
	Path     string   `json:"path"`
	Type     string   `json:"type"`
	Size     uint64   `json:"size"`
	RO       bool     `json:"ro"`
	Rota     bool     `json:"rota"`
	Tran     string   `json:"tran"`
	Model    string   `json:"model"`
	Serial   string   `json:"serial"`
	WWN      string   `json:"wwn"`
	PTType   *string  `json:"pttype"`
	FSType   *string  `json:"fstype"`
	Label    *string  `json:"partlabel"`
	Children []device `json:"children,omitempty"`
}

// describe is what the script for the disks prints.
func (s *Sim) describe(m *server) string {
	text := "arch x86_64\n"
	var list struct {
		Devices []device `json:"blockdevices"`
	}
	for _, d := range m.Disks {
		text += fmt.Sprintf("link /dev/disk/by-id/wwn-%s ../../%s\n", d.WWN, strings.TrimPrefix(d.Path, "/dev/"))
		list.Devices = append(list.Devices, s.device(m, d))
	}
	data, err := json.Marshal(list)
	if err != nil {
		panic("robotsim: " + err.Error())
	}
	return text + string(data) + "\n"
}

// device is a disk with what is on it now.
func (s *Sim) device(m *server, d Disk) device {
	if now := s.machines.Disk(m.Number, d.Path); now.URL != "" {
		d.Table, d.Parts = "", nil
		if len(now.Content) > 0 {
			d.Table, d.Parts = "gpt", []string{"EFI", "BIOS", "BOOT", "META"}
		}
	}
	found := device{Path: d.Path, Type: "disk", Size: d.Size, Tran: "nvme", Model: d.Model, Serial: d.Serial, WWN: d.WWN}
	if d.Table != "" {
		found.PTType = &d.Table
	}
	for i, label := range d.Parts {
		found.Children = append(found.Children, device{Path: fmt.Sprintf("%sp%d", d.Path, i+1), Type: "part", Label: &label})
	}
	return found
}

// find returns the key with a fingerprint.
func (s *Sim) find(fingerprint string) (key, bool) {
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.Fingerprint == fingerprint })
	if i < 0 {
		return key{}, false
	}
	return s.keys[i], true
}
