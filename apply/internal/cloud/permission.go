package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// MayWrite asks whether the token may change things, without changing anything:
// it deletes what cannot be there, as ids begin at 1. A token that may only read
// is refused before that is noticed.
func (c *Client) MayWrite(ctx context.Context) (bool, error) {
	_, err := c.api.PlacementGroup.Delete(ctx, &hcloud.PlacementGroup{ID: 0})
	switch {
	case hasCode(err, hcloud.ErrorCodeForbidden, "token_readonly"):
		return false, nil
	case err == nil, gone(err), hasCode(err, hcloud.ErrorCodeInvalidInput):
		return true, nil
	}
	return false, explain("token", "try it", err)
}
