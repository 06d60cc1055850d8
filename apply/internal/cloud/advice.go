package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

// guidance is what to do about an error, and the exit code that it leads to
// (OK stands for [diag.Remote]).
type guidance struct {
	hint string
	exit diag.Code
}

const (
	hintAgain    = "run the same command again: it goes on where this run stopped"
	hintDefect   = "talosgen asked for something that Hetzner does not take: please report it with the output of -v"
	hintOther    = "something else changed it meanwhile; run the same command again, which observes what there is"
	hintElseType = "wait, or name other types or locations in cluster.yaml"
	hintStatus   = "see https://status.hetzner.com"
)

// advice has a line for each error code of the API (section Errors of
// https://docs.hetzner.cloud/reference/cloud, and the list in hcloud-go), and
// for what is no answer of it.
var advice = map[hcloud.ErrorCode]guidance{
	// The token.
	hcloud.ErrorCodeUnauthorized: {"set HCLOUD_TOKEN to a token of the project, made in the Hetzner Console under Security, API tokens", diag.Secrets},
	hcloud.ErrorCodeForbidden:    {"the token needs the permission Read & Write", diag.Secrets},

	// Limits and stock.
	hcloud.ErrorCodeRateLimitExceeded:     {"the project's limit of requests per hour is used up by others too: wait, or find out who", diag.NotReady},
	hcloud.ErrorCodeResourceLimitExceeded: {"ask for a higher limit in the Hetzner Console under Limits, or remove what the project does not need", diag.OK},
	hcloud.ErrorCodeResourceUnavailable:   {hintElseType, diag.NotReady},
	hcloud.ErrorCodePlacementError:        {hintElseType, diag.NotReady},
	hcloud.ErrorCodeNoSpaceLeftInLocation: {"wait, or choose another location", diag.NotReady},

	// Trouble at Hetzner, or on the way.
	hcloud.ErrorCodeServiceError:     {"the message is Hetzner's; if it does not help, " + hintStatus, diag.OK},
	hcloud.ErrorCodeServerError:      {hintStatus + ", then " + hintAgain, diag.OK},
	hcloud.ErrorCodeBadGateway:       {hintStatus + ", then " + hintAgain, diag.OK},
	hcloud.ErrorCodeTimeout:          {hintAgain, diag.OK},
	hcloud.ErrorCodeUnknownError:     {hintStatus + ", then " + hintAgain, diag.OK},
	hcloud.ErrorCodeRobotUnavailable: {hintAgain, diag.OK},
	"action_failed":                  {hintStatus + ", then " + hintAgain, diag.OK},
	"unavailable":                    {hintStatus + ", then " + hintAgain, diag.OK},
	hcloud.ErrorCodeMaintenance:      {"Hetzner works on it: " + hintStatus, diag.NotReady},
	codeLost:                         {"whether it had its effect is unknown; " + hintAgain, diag.OK},
	codeUnreachable:                  {"check the connection and the endpoint, then " + hintAgain, diag.OK},
	codeStrange:                      {"is there a proxy on the way? check the endpoint", diag.OK},

	// Somebody else is at work.
	hcloud.ErrorCodeLocked:                  {"another action on it has not ended; " + hintAgain, diag.NotReady},
	hcloud.ErrorCodeConflict:                {hintOther, diag.NotReady},
	hcloud.ErrorCodeResourceLocked:          {"Hetzner has locked it: write to their support", diag.OK},
	hcloud.ErrorCodeNotFound:                {hintOther, diag.OK},
	hcloud.ErrorCodeUniquenessError:         {"the project holds another one of that name, or with that key, that is not the cluster's: rename or remove it", diag.OK},
	hcloud.ErrorCodeResourceInUse:           {"something that talosgen does not know uses it: look in the Hetzner Console", diag.OK},
	hcloud.ErrorCodeServerAlreadyAttached:   {hintOther, diag.OK},
	hcloud.ErrorCodeServerAlreadyAdded:      {hintOther, diag.OK},
	hcloud.ErrorCodeFirewallAlreadyApplied:  {hintOther, diag.OK},
	"firewall_already_removed":              {hintOther, diag.OK},
	hcloud.ErrorCodeTargetAlreadyDefined:    {hintOther, diag.OK},
	hcloud.ErrorCodeSourcePortAlreadyUsed:   {hintOther, diag.OK},
	hcloud.ErrorCodeVolumeAlreadyAttached:   {hintOther, diag.OK},
	hcloud.ErrorCodePrimaryIPAssigned:       {hintOther, diag.OK},
	"primary_ip_already_assigned":           {hintOther, diag.OK},
	hcloud.ErrorCodeServerHasIPv4:           {hintOther, diag.OK},
	hcloud.ErrorCodeServerHasIPv6:           {hintOther, diag.OK},
	"must_be_unassigned":                    {"take the address from what it is assigned to first; " + hintAgain, diag.OK},
	"already_in_placement_group":            {hintOther, diag.OK},
	"load_balancer_already_attached":        {hintOther, diag.OK},
	"load_balancer_not_attached_to_network": {hintOther, diag.OK},
	"server_not_attached_to_network":        {hintOther, diag.OK},
	"firewall_resource_not_found":           {hintOther, diag.OK},

	// What the cluster wants does not go.
	hcloud.ErrorCodeProtected:                      {"it is protected against deletion in Hetzner; talosgen lifts a protection only if asked by name", diag.OK},
	hcloud.ErrorCodeInvalidServerType:              {"the type does not fit the server, or Hetzner does not offer it any more: choose another one in cluster.yaml", diag.OK},
	hcloud.ErrorCodeInvalidLoadBalancerType:        {"the load balancer has more services or targets than the type takes: choose a larger one in cluster.yaml", diag.OK},
	hcloud.ErrorCodeServerNotStopped:               {"the server has to be off for it; " + hintAgain, diag.OK},
	hcloud.ErrorCodeNetworksOverlap:                {"the server is in another network with the same addresses: detach it, or choose another range", diag.OK},
	hcloud.ErrorCodeIPNotAvailable:                 {"something else in the network has the address: look at the network's members in the Hetzner Console", diag.OK},
	hcloud.ErrorCodeNoSubnetAvailable:              {"the network has no subnet in that zone, or no address is left in it", diag.OK},
	hcloud.ErrorCodeVSwitchAlreadyUsed:             {"the vSwitch belongs to another network: detach it there", diag.OK},
	hcloud.ErrorCodeIncompatibleNetworkType:        {"a vSwitch subnet is for dedicated servers only", diag.OK},
	hcloud.ErrorCodePrivateNetOnlyServer:           {"a firewall filters public addresses only, and the server has none", diag.OK},
	hcloud.ErrorCodeFirewallManagedByLabelSelector: {"the firewall applies by a label of the server: change the label, not the server's firewalls", diag.OK},
	hcloud.ErrorCodeServerIsLoadBalancerTarget:     {"take the server from the load balancer's targets first", diag.OK},
	hcloud.ErrorCodePrimaryIPDatacenterMismatch:    {"the address is in another location than the server", diag.OK},
	hcloud.ErrorCodePrimaryIPVersionMismatch:       {"an IPv4 address was given for IPv6, or the other way round", diag.OK},
	hcloud.ErrorCodeIPNotOwned:                     {"the address is not one of the project's owner", diag.OK},
	hcloud.ErrorCodeCloudResourceIPNotAllowed:      {"use the server as a target, not its address", diag.OK},
	hcloud.ErrorCodeMissingIPv4:                    {"the server has no public IPv4 address: reach it by its private one", diag.OK},
	hcloud.ErrorCodeTargetsWithoutUsePrivateIP:     {"a target is reached by its public address: remove it, or reach it by its private one", diag.OK},
	"resolve_cloud_private_targets_error":          {"the server is not in the network of the load balancer: " + hintOther, diag.OK},
	"resolve_cloud_public_targets_error":           {"the server has no public IPv4 address: let the load balancer reach it by its private one", diag.OK},
	"load_balancer_public_interface_disabled":      {"the public interface of the load balancer is off: let it reach its targets by their private addresses", diag.OK},
	"network_has_no_vswitch_subnet":                {"a private address of a dedicated server is reached through a vSwitch: add a subnet for it to the network", diag.OK},
	"ip_not_in_vswitch_subnet":                     {"the address is in no vSwitch subnet of the network: choose one that is", diag.OK},
	hcloud.ErrorUnsupportedError:                   {"Hetzner cannot do that with this kind of object", diag.OK},

	// Defects of talosgen, or too old a version of it.
	hcloud.ErrorCodeInvalidInput:      {hintDefect, diag.OK},
	hcloud.ErrorCodeJSONError:         {hintDefect, diag.OK},
	"method_not_allowed":              {hintDefect, diag.OK},
	hcloud.ErrorDeprecatedAPIEndpoint: {"Hetzner has removed that call: use a newer talosgen", diag.OK},
}
