package cloud

import (
	"errors"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Stale reports whether an error of a change means that what is there is not
// what the plan was made from, or that nobody knows: because the answer of a
// call was lost, or because somebody else changes the project. A new
// observation and a new plan tell what is left to do.
//
// Among them are errors that usually mean something else: invalid_input is also
// the answer to a subnet that is there already. Whoever tries again is to give
// up when the same error comes back.
func Stale(err error) bool {
	var lost *LostAnswer
	if errors.As(err, &lost) {
		return true
	}
	var api hcloud.Error
	if errors.As(err, &api) && api.Response() != nil && api.Response().StatusCode == http.StatusNotFound {
		return true
	}
	return hasCode(err, staleCodes...)
}

var staleCodes = []hcloud.ErrorCode{
	hcloud.ErrorCodeNotFound,
	hcloud.ErrorCodeUniquenessError,
	hcloud.ErrorCodeConflict,
	hcloud.ErrorCodeLocked,
	hcloud.ErrorCodeServerNotStopped,
	hcloud.ErrorCodeServerAlreadyAttached,
	hcloud.ErrorCodeServerAlreadyAdded,
	hcloud.ErrorCodeFirewallAlreadyApplied,
	hcloud.ErrorCodeFirewallResourceNotFound,
	hcloud.ErrorCodeResourceInUse,
	hcloud.ErrorCodeSourcePortAlreadyUsed,
	hcloud.ErrorCodeTargetAlreadyDefined,
	hcloud.ErrorCodeLoadBalancerAlreadyAttached,
	hcloud.ErrorCodeLoadBalancerNotAttachedToNetwork,
	hcloud.ErrorCodeServerNotAttachedToNetwork,
	hcloud.ErrorCodePrimaryIPAssigned,
	hcloud.ErrorCodePrimaryIPAlreadyAssigned,
	hcloud.ErrorCodeServerHasIPv4,
	hcloud.ErrorCodeServerHasIPv6,
	hcloud.ErrorCodeVolumeAlreadyAttached,
	hcloud.ErrorCodeIPNotAvailable,
	hcloud.ErrorCodeInvalidInput,
	hcloud.ErrorCodeServiceError,
	"action_failed",
	"must_be_unassigned",
	"already_in_placement_group",
}
