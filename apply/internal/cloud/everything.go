package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// lists are what a project consists of, and what Hetzner sells, by their paths.
var lists = []string{
	"locations", "server_types", "load_balancer_types", "networks", "placement_groups", "ssh_keys", "images", "certificates", "primary_ips",
	"servers", "floating_ips", "firewalls", "volumes", "load_balancers", "zones",
}

// Everything reads what a whole project consists of, whoever it belongs to: the items of
// each list as they came, by the last part of its path. It changes nothing.
func (c *calls) Everything(ctx context.Context) (map[string][]json.RawMessage, error) {
	found := map[string][]json.RawMessage{}
	for _, path := range lists {
		items, err := c.raw(ctx, path, path)
		if err != nil {
			return nil, err
		}
		found[path] = items
	}
	for _, zone := range found["zones"] {
		var of struct {
			ID int64 `json:"id"`
		}
		if err := json.Unmarshal(zone, &of); err != nil {
			return nil, explain("DNS zones", "read", err)
		}
		items, err := c.raw(ctx, fmt.Sprintf("zones/%d/rrsets", of.ID), "rrsets")
		if err != nil {
			return nil, err
		}
		found["rrsets"] = append(found["rrsets"], items...)
	}
	var prices struct {
		Pricing json.RawMessage `json:"pricing"`
	}
	if _, err := c.get(ctx, "pricing", &prices); err != nil {
		return nil, explain("prices", "read", err)
	}
	found["pricing"] = []json.RawMessage{prices.Pricing}
	return found, nil
}

// item is an item of a list as it came.
type item struct {
	ID  any
	raw json.RawMessage
}

// UnmarshalJSON keeps what came, and reads the id.
func (i *item) UnmarshalJSON(text []byte) error {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	i.ID, i.raw = string(of.ID), append(json.RawMessage(nil), text...)
	return nil
}

// raw reads a list.
func (c *calls) raw(ctx context.Context, path, key string) (items []json.RawMessage, err error) {
	found, err := all(ctx, key, "", func(l hcloud.ListOpts) ([]*item, *hcloud.Response, error) {
		query := url.Values{"page": {strconv.Itoa(l.Page)}, "per_page": {strconv.Itoa(l.PerPage)}}
		var answer map[string]json.RawMessage
		response, err := c.get(ctx, path+"?"+query.Encode(), &answer)
		if err != nil {
			return nil, nil, err
		}
		var page []*item
		if err := json.Unmarshal(answer[key], &page); err != nil {
			return nil, nil, fmt.Errorf("the answer has no list %s", key)
		}
		return page, response, nil
	})
	for _, i := range found {
		items = append(items, i.raw)
	}
	return items, err
}

func (c *calls) get(ctx context.Context, path string, into any) (*hcloud.Response, error) {
	request, err := c.api.NewRequest(ctx, http.MethodGet, "/"+path, nil)
	if err != nil {
		return nil, err
	}
	return c.api.Do(request, into)
}
