package rescuesim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"

	"golang.org/x/crypto/ssh"
)

// session serves one connection.
func (m *Machines) session(up *machine, conn net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return // the client says why
	}
	go ssh.DiscardRequests(requests)
	for open := range channels {
		if open.ChannelType() != "session" {
			_ = open.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		channel, requests, err := open.Accept()
		if err != nil {
			return
		}
		go m.commands(up, channel, requests)
	}
}

// commands runs what is asked for in a session.
func (m *Machines) commands(up *machine, channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for r := range requests {
		var exec struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &exec) != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		status := m.run(up, channel, exec.Command)
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		return
	}
}

// command is the one that writes an image: the URL, the digest, the disk.
var command = regexp.MustCompile(`^bash -s -- '([^']*)' '([0-9a-f]*)' '(/dev/[^']*)'( '[^']*')?$`)

// Commands that describe the disks of a machine, and take them from who uses them.
const (
	commandDisks   = "bash -s -- 'disks'"
	commandRelease = "bash -s -- 'release'"
)

// Exit codes, as the script has them.
const (
	exitDownload = 23
	exitDigest   = 26
	exitUnknown  = 127
)

// run does what a script would.
func (m *Machines) run(up *machine, channel ssh.Channel, text string) uint32 {
	words := command.FindStringSubmatch(text)
	script, err := io.ReadAll(channel)
	switch {
	case err != nil || len(script) == 0:
	case text == commandDisks && up.boot.Describe != "":
		fmt.Fprint(channel, up.boot.Describe)
		return 0
	case text == commandRelease && up.boot.Describe != "":
		return 0
	case words != nil && slices.Contains(up.boot.Disks, words[3]):
		return m.write(up, channel, words)
	}
	fmt.Fprintf(channel.Stderr(), "the simulated rescue system cannot run %q\n", text)
	return exitUnknown
}

// write writes an image to a disk, as the script would.
func (m *Machines) write(up *machine, channel ssh.Channel, words []string) uint32 {
	at := place{up.id, words[3]}
	m.change(at, func(d *Disk) { *d = Disk{URL: words[1]} })
	content, err := m.fetch(up.ctx, words[1])
	if err != nil {
		fmt.Fprintf(channel.Stderr(), "the download failed: %v\n", err)
		return exitDownload
	}
	defer content.Close()
	sum := sha256.New()
	size, err := m.copy(up, at, channel, io.TeeReader(content, sum))
	if err != nil {
		fmt.Fprintf(channel.Stderr(), "the download failed: %v\n", err)
		return exitDownload
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if words[2] != "" && words[2] != digest {
		fmt.Fprintf(channel.Stderr(), "the download has the digest %s\n", digest)
		return exitDigest
	}
	m.change(at, func(d *Disk) { d.Complete = true })
	fmt.Fprintln(channel, size, digest, digest)
	return 0
}

// piece is how much is written at once.
const piece = 64 << 10

// copy writes to the disk piece by piece, and tells how far it is.
func (m *Machines) copy(up *machine, at place, channel ssh.Channel, content io.Reader) (size int, err error) {
	for buffer := make([]byte, piece); ; {
		n, err := content.Read(buffer)
		if up.ctx.Err() != nil {
			return size, errors.New("the power is off")
		}
		m.change(at, func(d *Disk) { d.Content = append(d.Content, buffer[:n]...) })
		size += n
		fmt.Fprintf(channel.Stderr(), "\r%d bytes (simulated) copied", size)
		if err != nil {
			fmt.Fprintln(channel.Stderr())
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return size, err
		}
	}
}

// change changes the disk of a machine, if it still is there.
func (m *Machines) change(at place, do func(*Disk)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(m.disk(at))
}
