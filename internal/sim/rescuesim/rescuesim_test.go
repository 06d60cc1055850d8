package rescuesim

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

const address = "198.18.0.1"

// key is the key of somebody.
func key(t *testing.T, n byte) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.NewChaCha8([32]byte{n}))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
}

// booted is a machine that runs the rescue system for a key.
func booted(t *testing.T, fetch Fetch, line string) *Machines {
	t.Helper()
	m, err := New(rand.NewChaCha8([32]byte{9}), fetch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.Event(hetznersim.Event{Kind: hetznersim.MachineBooted, Server: hetznersim.Machine{ID: 7, PublicIPv4: address, Rescue: true, RescueKeys: []string{line}}})
	return m
}

func (m *Machines) login(t *testing.T, signer ssh.Signer) (*ssh.Client, error) {
	conn, err := m.Dial(t.Context(), address+":22")
	if err != nil {
		return nil, err
	}
	c, channels, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(m.host.PublicKey()),
	})
	if err != nil {
		return nil, err
	}
	client := ssh.NewClient(c, channels, requests)
	t.Cleanup(func() { _ = client.Close() })
	return client, nil
}

func static(text string) Fetch {
	return func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

const write = "bash -s -- 'https://example.com/a.raw' '' '/dev/sda'"

func TestCommands(t *testing.T) {
	signer, line := key(t, 1)
	broken := io.NopCloser(io.MultiReader(strings.NewReader("half"), iotestErr{}))
	for _, tt := range []struct {
		name, command, script string
		fetch                 Fetch
		exit                  int
		said                  string
		disk                  Disk
	}{
		{"it writes", write, "script", static("image"), 0, "5 bytes", Disk{Content: []byte("image"), URL: "https://example.com/a.raw", Complete: true}},
		{"another digest", strings.Replace(write, "''", "'00'", 1), "script", static("image"), 26, "the download has the digest", Disk{Content: []byte("image"), URL: "https://example.com/a.raw"}},
		{"no download", write, "script", func(context.Context, string) (io.ReadCloser, error) { return nil, errors.New("404") }, 23, "the download failed: 404", Disk{URL: "https://example.com/a.raw"}},
		{"half a download", write, "script", func(context.Context, string) (io.ReadCloser, error) { return broken, nil }, 23, "the download failed: cut", Disk{Content: []byte("half"), URL: "https://example.com/a.raw"}},
		{"no script", write, "", static("image"), 127, "cannot run", Disk{}},
		{"another command", "reboot", "script", static("image"), 127, `cannot run "reboot"`, Disk{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := booted(t, tt.fetch, line)
			client, err := m.login(t, signer)
			if err != nil {
				t.Fatal(err)
			}
			session, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			session.Stdin, session.Stderr = strings.NewReader(tt.script), &said
			err = session.Run(tt.command)
			code := 0
			if exit := (*ssh.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitStatus()
			} else if err != nil {
				t.Fatal(err)
			}
			m.Event(hetznersim.Event{Kind: hetznersim.MachineImaged, Server: hetznersim.Machine{ID: 7}, Image: 8})
			d, _ := m.Snapshot(8)
			if code != tt.exit || !strings.Contains(said.String(), tt.said) ||
				!bytes.Equal(d.Content, tt.disk.Content) || d.URL != tt.disk.URL || d.Complete != tt.disk.Complete || !d.On {
				t.Errorf("exit code %d, %s, disk %+v", code, said.String(), d)
			}
		})
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("cut") }

// TestWhoGetsIn: only the key that the API was told, only while the rescue
// system is on.
func TestWhoGetsIn(t *testing.T) {
	signer, line := key(t, 1)
	stranger, _ := key(t, 2)
	m := booted(t, static("image"), line)
	if _, err := m.login(t, stranger); err == nil {
		t.Error("a stranger got in")
	}
	client, err := m.login(t, signer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Dial(t.Context(), address+":50000"); err == nil {
		t.Error("another port is open")
	}
	m.Event(hetznersim.Event{Kind: hetznersim.MachineHalted, Server: hetznersim.Machine{ID: 7}})
	if err := client.Wait(); err == nil {
		t.Error("the connection outlived the machine")
	}
	if _, err := m.login(t, signer); err == nil {
		t.Error("a machine that is off answered")
	}
	m.Event(hetznersim.Event{Kind: hetznersim.MachineBooted, Server: hetznersim.Machine{ID: 7, PublicIPv4: address}})
	if _, err := m.login(t, signer); err == nil {
		t.Error("a machine without rescue system answered")
	}
}
