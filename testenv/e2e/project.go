package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// project is a project of Hetzner Cloud, seen without talosgen's own client: what
// judges talosgen must not share its mistakes.
type project struct {
	endpoint string // with /v1
	token    string
	client   *http.Client
	sleep    func(context.Context, time.Duration) error
}

// object is what a project has, as far as a run must know it.
type object struct {
	kind       kind
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Status     string            `json:"status"`
	Type       string            `json:"type"`
	Labels     map[string]string `json:"labels"`
	Protection struct {
		Delete bool `json:"delete"`
	} `json:"protection"`
	AppliedTo []appliedTo `json:"applied_to"`
}

// appliedTo is what a firewall protects.
type appliedTo struct {
	Type          string          `json:"type"`
	Server        json.RawMessage `json:"server,omitempty"`
	LabelSelector json.RawMessage `json:"label_selector,omitempty"`
}

func (o object) String() string {
	return fmt.Sprintf("%s %d %s", strings.ReplaceAll(strings.TrimSuffix(o.kind.path, "s"), "_", " "), o.ID, o.Name)
}

// kind is a kind of object.
type kind struct {
	path    string
	protect string // the action's body that ends protection; empty: there is none
}

const unprotected = `{"delete": false}`

// kinds are what a cluster, or the build of an image, can leave: in an order in
// which they can be removed.
func kinds() []kind {
	return []kind{
		{"load_balancers", unprotected},
		{"servers", `{"delete": false, "rebuild": false}`},
		{"floating_ips", unprotected}, {"primary_ips", unprotected}, {"volumes", unprotected},
		{"firewalls", ""}, {"placement_groups", ""}, {"networks", unprotected},
		{"ssh_keys", ""}, {"images", unprotected}, {"zones", unprotected},
	}
}

// objects lists all that there is, but for what Hetzner itself offers.
func (p *project) objects(ctx context.Context) (all []object, err error) {
	for _, k := range kinds() {
		path := "/" + k.path + "?"
		if k.path == "images" {
			path += "type=snapshot&"
		}
		err := p.list(ctx, path, k.path, func(text json.RawMessage) error {
			o := object{kind: k}
			err := json.Unmarshal(text, &o)
			all = append(all, o)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// list reads all pages of a list. The path ends with ? or &.
func (p *project) list(ctx context.Context, path, field string, each func(json.RawMessage) error) error {
	for page := 1; page != 0; {
		var answer map[string]json.RawMessage
		if err := p.call(ctx, http.MethodGet, fmt.Sprintf("%sper_page=50&page=%d", path, page), "", &answer); err != nil {
			return err
		}
		var items []json.RawMessage
		var meta struct {
			Pagination struct {
				Next int `json:"next_page"` // null at the end
			} `json:"pagination"`
		}
		if err := errors.Join(json.Unmarshal(answer[field], &items), json.Unmarshal(answer["meta"], &meta)); err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
		for _, item := range items {
			if err := each(item); err != nil {
				return fmt.Errorf("GET %s: %w", path, err)
			}
		}
		page = meta.Pagination.Next
	}
	return nil
}

// call makes a request. A limit that is reached is waited for.
func (p *project) call(ctx context.Context, method, path, body string, into any) error {
	const tries, pause = 5, 10 * time.Second
	for try := 1; ; try++ {
		status, text, err := p.send(ctx, method, path, body)
		if err != nil {
			return err
		}
		if status == http.StatusTooManyRequests && try < tries {
			if err := p.sleep(ctx, pause); err != nil {
				return err
			}
			continue
		}
		if status >= http.StatusMultipleChoices {
			return fmt.Errorf("%s %s: %d %.300s", method, path, status, text)
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		return nil
	}
}

func (p *project) send(ctx context.Context, method, path, body string) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, p.endpoint+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}
