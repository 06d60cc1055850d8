package robotsim

import (
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/crypto/ssh"
)

// withServer answers about a server.
func (s *Sim) withServer(parts []string, do func(*server) answer) answer {
	for _, m := range s.servers {
		if len(parts) > 1 && parts[1] == strconv.FormatInt(m.Number, 10) {
			return do(m)
		}
	}
	return fail(http.StatusNotFound, "SERVER_NOT_FOUND", "Server not found")
}

func (s *Sim) describeServer(m *server) answer {
	var addresses []string
	if m.IP != "" {
		addresses = []string{m.IP}
	}
	return ok(map[string]any{"server": map[string]any{
		"server_ip": orNull(m.IP), "server_ipv6_net": m.IPv6Net, "server_number": m.Number, "server_name": m.Name, "product": m.Product,
		"dc": m.DC, "traffic": "unlimited", "status": "ready", "cancelled": m.Cancelled, "paid_until": "2026-12-31", "ip": addresses, "subnet": nil,
		"reset": true, "rescue": true,
	}})
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// boot answers about the rescue system.
func (s *Sim) boot(r *http.Request, parts []string, m *server) answer {
	switch path := parts[2:]; {
	case slices.Equal(path, []string{"rescue", "last"}) && r.Method == http.MethodGet:
		if m.last == nil {
			return fail(http.StatusNotFound, "NOT_FOUND", "No rescue system was activated")
		}
		return ok(m.activation(m.last, false))
	case !slices.Equal(path, []string{"rescue"}):
		return fail(http.StatusNotFound, "NOT_FOUND", "Not found")
	case r.Method == http.MethodPost:
		return s.activate(r, m)
	case r.Method == http.MethodDelete:
		m.rescue = nil
	}
	return ok(m.activation(m.rescue, m.rescue != nil))
}

// activate activates the rescue system for the next start.
func (s *Sim) activate(r *http.Request, m *server) answer {
	if m.rescue != nil {
		return fail(http.StatusConflict, "BOOT_ALREADY_ENABLED", "There is already an active boot configuration for the server")
	}
	next := &rescue{password: s.secret()}
	for _, fingerprint := range append(r.PostForm["authorized_key[]"], r.PostForm["authorized_key"]...) {
		k, found := s.find(fingerprint)
		if !found {
			return invalid("authorized_key")
		}
		next.keys = append(next.keys, k)
	}
	if r.PostForm.Get("os") != "linux" {
		return invalid("os")
	}
	m.rescue, m.last = next, next
	return ok(m.activation(next, true))
}

func invalid(name string) answer {
	return answer{http.StatusBadRequest, map[string]problem{"error": {Status: http.StatusBadRequest, Code: "INVALID_INPUT", Message: "invalid input", Invalid: []string{name}}}}
}

// activation is an activation as Robot describes it: the host keys only of the last one.
func (m *server) activation(a *rescue, active bool) any {
	keys, hosts, os, password := []any{}, []any{}, any([]string{"linux", "vkvm"}), any(nil)
	if a != nil {
		os = "linux"
		for _, k := range a.keys {
			keys = append(keys, map[string]any{"key": k})
		}
		if a.host != nil {
			shown := ssh.FingerprintSHA256(a.host.PublicKey())[len("SHA256:"):]
			hosts = append(hosts, map[string]any{"key": map[string]any{"fingerprint": shown, "type": "ED25519", "size": 256}})
		}
	}
	if active {
		password = a.password
	}
	return map[string]any{"rescue": map[string]any{
		"server_ip": m.IP, "server_ipv6_net": m.IPv6Net, "server_number": m.Number, "os": os, "arch": 64,
		"active": active, "password": password, "authorized_key": keys, "host_key": hosts,
	}}
}

// secret is the password of a rescue system.
func (s *Sim) secret() string {
	var random [8]byte
	if _, err := io.ReadFull(s.o.Random, random[:]); err != nil {
		panic("robotsim: no randomness: " + err.Error())
	}
	return "canary-rescue-" + hex.EncodeToString(random[:])
}

// press answers about the reset button.
func (s *Sim) press(r *http.Request, m *server) answer {
	described := map[string]any{"server_ip": m.IP, "server_ipv6_net": m.IPv6Net, "server_number": m.Number, "type": []string{"sw", "hw", "man"}, "operating_status": "running"}
	if r.Method == http.MethodPost {
		if kind := r.PostForm.Get("type"); kind != "hw" && kind != "sw" {
			return invalid("type")
		}
		described["type"] = r.PostForm.Get("type")
		s.reset(m)
	}
	return ok(map[string]any{"reset": described})
}

// key is a public key in the account.
type key struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Type        string `json:"type"`
	Size        int    `json:"size"`
	Data        string `json:"data"`
	Created     string `json:"created_at"`
}

// key answers about public keys.
func (s *Sim) key(r *http.Request, parts []string) answer {
	switch {
	case len(parts) == 1 && r.Method == http.MethodPost:
		return s.addKey(r)
	case len(parts) == 1 && len(s.keys) == 0:
		return fail(http.StatusNotFound, "NOT_FOUND", "No keys found")
	case len(parts) == 1:
		var all []any
		for _, k := range s.keys {
			all = append(all, map[string]any{"key": k})
		}
		return ok(all)
	}
	k, found := s.find(parts[1])
	switch {
	case !found:
		return fail(http.StatusNotFound, "NOT_FOUND", "Key not found")
	case r.Method == http.MethodDelete:
		s.keys = slices.DeleteFunc(s.keys, func(o key) bool { return o.Fingerprint == k.Fingerprint })
		return ok(nil)
	}
	return ok(map[string]any{"key": k})
}

func (s *Sim) addKey(r *http.Request) answer {
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(r.PostForm.Get("data")))
	if err != nil || r.PostForm.Get("name") == "" {
		return invalid("data")
	}
	k := key{
		Name: r.PostForm.Get("name"), Fingerprint: ssh.FingerprintLegacyMD5(public), Type: "ED25519", Size: 256,
		Data: r.PostForm.Get("data"), Created: "2026-11-01 12:00:00",
	}
	if _, found := s.find(k.Fingerprint); found {
		return fail(http.StatusConflict, "KEY_ALREADY_EXISTS", "The supplied key already exists")
	}
	s.keys = append(s.keys, k)
	return answer{http.StatusCreated, map[string]any{"key": k}}
}
