package robot

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Server is a dedicated server, as Robot describes it.
type Server struct {
	Number    int64    `json:"server_number"`
	Name      string   `json:"server_name"`
	Product   string   `json:"product"`
	DC        string   `json:"dc"`
	IP        string   `json:"server_ip"`
	IPv6Net   string   `json:"server_ipv6_net"`
	Status    string   `json:"status"`
	Cancelled bool     `json:"cancelled"`
	IPs       []string `json:"ip"`
	Subnets   []Subnet `json:"subnet"`
}

// Subnet is an additional subnet of a server.
type Subnet struct {
	IP   string `json:"ip"`
	Mask string `json:"mask"`
}

// Server returns a server by its number.
func (c *Client) Server(ctx context.Context, number int64) (Server, error) {
	var answer struct {
		Server Server `json:"server"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/server/%d", number), into: &answer})
	return answer.Server, err
}

// Rescue is what Robot says of the rescue system of a server. Its password is not read.
type Rescue struct {
	Active bool
	// The keys that are let in.
	Authorized []SSHKey
	// SHA-256 fingerprints of the host keys of the system that has booted; empty before.
	HostKeys []string
}

// rescueAnswer is a Rescue on the wire.
type rescueAnswer struct {
	Rescue struct {
		Active     bool      `json:"active"`
		Authorized []keyItem `json:"authorized_key"`
		HostKeys   []keyItem `json:"host_key"`
	} `json:"rescue"`
}

func (a rescueAnswer) rescue() Rescue {
	r := Rescue{Active: a.Rescue.Active}
	for _, k := range a.Rescue.Authorized {
		r.Authorized = append(r.Authorized, k.Key)
	}
	for _, k := range a.Rescue.HostKeys {
		r.HostKeys = append(r.HostKeys, k.Key.Fingerprint)
	}
	return r
}

// keyItem is an element of a list of keys: an object, or a fingerprint.
type keyItem struct {
	Key SSHKey `json:"key"`
}

// UnmarshalJSON reads either.
func (k *keyItem) UnmarshalJSON(data []byte) error {
	if strings.HasPrefix(string(data), `"`) {
		return json.Unmarshal(data, &k.Key.Fingerprint)
	}
	type plain keyItem
	return json.Unmarshal(data, (*plain)(k))
}

func rescuePath(number int64) string { return fmt.Sprintf("/boot/%d/rescue", number) }

// Rescue returns whether the rescue system is active for the next start.
func (c *Client) Rescue(ctx context.Context, number int64) (Rescue, error) {
	var answer rescueAnswer
	err := c.do(ctx, call{method: http.MethodGet, path: rescuePath(number), into: &answer})
	return answer.rescue(), err
}

// LastRescue returns the last activation. Once that has booted, it has the host keys,
// which are new with each start. A server without one has none.
func (c *Client) LastRescue(ctx context.Context, number int64) (Rescue, error) {
	var answer rescueAnswer
	err := c.do(ctx, call{method: http.MethodGet, path: rescuePath(number) + "/last", into: &answer})
	if is(err, codeNotFound) || is(err, codeBootless) {
		return Rescue{}, nil
	}
	return answer.rescue(), err
}

// ActivateRescue lets the next start of a server be that of the rescue system, which
// lets in the key with an MD5 fingerprint.
func (c *Client) ActivateRescue(ctx context.Context, number int64, fingerprint string) error {
	form := url.Values{"os": {"linux"}, "authorized_key[]": {fingerprint}}
	err := c.do(ctx, call{method: http.MethodPost, path: rescuePath(number), form: form})
	if !is(err, codeRescueActive) {
		return err
	}
	// An answer was lost, or somebody else was faster.
	now, unknown := c.Rescue(ctx, number)
	if unknown == nil && now.Active && len(now.Authorized) == 1 && now.Authorized[0].Fingerprint == fingerprint {
		return nil
	}
	return err
}

// DeactivateRescue lets a server start from its disk again.
func (c *Client) DeactivateRescue(ctx context.Context, number int64) error {
	return c.do(ctx, call{method: http.MethodDelete, path: rescuePath(number)})
}

// Reset presses the reset button of a server. It is done once: if the answer was lost, it
// may have happened.
func (c *Client) Reset(ctx context.Context, number int64) error {
	return c.do(ctx, call{method: http.MethodPost, path: fmt.Sprintf("/reset/%d", number), form: url.Values{"type": {"hw"}}, once: true})
}

// SSHKey is a public key in the account.
type SSHKey struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"` // MD5
}

// Keys returns the public keys in the account.
func (c *Client) Keys(ctx context.Context) (keys []SSHKey, err error) {
	var answer []keyItem
	err = c.do(ctx, call{method: http.MethodGet, path: "/key", into: &answer})
	if is(err, codeNotFound) {
		return nil, nil // that is how Robot says that there are none
	}
	for _, k := range answer {
		keys = append(keys, k.Key)
	}
	return keys, err
}

// AddKey adds a public key. One that is there already is as good.
func (c *Client) AddKey(ctx context.Context, name, data string) error {
	err := c.do(ctx, call{method: http.MethodPost, path: "/key", form: url.Values{"name": {name}, "data": {data}}})
	if is(err, codeKeyExists) {
		return nil
	}
	return err
}

// RemoveKey removes a public key. One that is gone is as good.
func (c *Client) RemoveKey(ctx context.Context, fingerprint string) error {
	err := c.do(ctx, call{method: http.MethodDelete, path: "/key/" + fingerprint})
	if is(err, codeNotFound) {
		return nil
	}
	return err
}

// Observe returns what a plan needs of a server.
func (c *Client) Observe(ctx context.Context, number int64) (o Observed, err error) {
	if o.Server, err = c.Server(ctx, number); err != nil {
		return o, err
	}
	o.Rescue, err = c.Rescue(ctx, number)
	return o, err
}
