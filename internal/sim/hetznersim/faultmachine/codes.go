package faultmachine

import (
	"net/http"
	"path"
	"strings"
)

// code is an error that the API's description has for some calls.
type code struct {
	status  int
	name    string
	methods string // of the calls; empty for all
	paths   string // a pattern of [path.Match] for their paths; empty for all
}

// codes are those of the section Errors of the description, and those that
// single calls have.
var codes = []code{
	{http.StatusBadRequest, "json_error", "POST PUT", ""},
	{http.StatusUnauthorized, "unauthorized", "", ""},
	{http.StatusForbidden, "forbidden", "", ""},
	{http.StatusForbidden, "maintenance", "", ""},
	{http.StatusForbidden, "resource_limit_exceeded", "POST", ""},
	{http.StatusNotFound, "not_found", "", ""},
	{http.StatusConflict, "uniqueness_error", "POST PUT", ""},
	{http.StatusConflict, "conflict", "", ""},
	{http.StatusGone, "deprecated_api_endpoint", "", ""},
	{http.StatusPreconditionFailed, "resource_unavailable", "POST", ""},
	{http.StatusUnprocessableEntity, "invalid_input", "", ""},
	{http.StatusUnprocessableEntity, "service_error", "", ""},
	{http.StatusUnprocessableEntity, "unsupported_error", "POST", ""},
	{http.StatusLocked, "locked", "POST PUT DELETE", ""},
	{http.StatusLocked, "protected", "DELETE", ""},
	{http.StatusTooManyRequests, "rate_limit_exceeded", "", ""},
	{http.StatusInternalServerError, "server_error", "", ""},
	{http.StatusBadGateway, "bad_gateway", "", ""},
	{http.StatusServiceUnavailable, "unavailable", "", ""},
	{http.StatusGatewayTimeout, "timeout", "", ""},

	{http.StatusUnprocessableEntity, "server_already_added", "POST", "/firewalls"},
	{http.StatusUnprocessableEntity, "incompatible_network_type", "POST", "/firewalls"},
	{http.StatusUnprocessableEntity, "firewall_resource_not_found", "POST", "/firewalls"},
	{http.StatusUnprocessableEntity, "resource_in_use", "DELETE", "/firewalls/*"},
	{http.StatusNotFound, "firewall_resource_not_found", "POST", "/firewalls/*/actions/*_resources"},
	{http.StatusUnprocessableEntity, "firewall_already_applied", "POST", "/firewalls/*/actions/apply_to_resources"},
	{http.StatusUnprocessableEntity, "private_net_only_server", "POST", "/firewalls/*/actions/apply_to_resources"},
	{http.StatusUnprocessableEntity, "firewall_managed_by_label_selector", "POST", "/firewalls/*/actions/remove_from_resources"},
	{http.StatusUnprocessableEntity, "must_be_unassigned", "DELETE", "/*_ips/*"},
	{http.StatusPreconditionFailed, "source_port_already_used", "POST", "/load_balancers"},
	{http.StatusUnprocessableEntity, "load_balancer_not_attached_to_network", "POST", "/load_balancers"},
	{http.StatusUnprocessableEntity, "target_already_defined", "POST", "/load_balancers"},
	{http.StatusPreconditionFailed, "source_port_already_used", "POST", "/load_balancers/*/actions/add_service"},
	{http.StatusUnprocessableEntity, "load_balancer_public_interface_disabled", "POST", "/load_balancers/*/actions/add_target"},
	{http.StatusUnprocessableEntity, "load_balancer_not_attached_to_network", "POST", "/load_balancers/*/actions/add_target"},
	{http.StatusUnprocessableEntity, "resolve_cloud_private_targets_error", "POST", "/load_balancers/*/actions/add_target"},
	{http.StatusUnprocessableEntity, "resolve_cloud_public_targets_error", "POST", "/load_balancers/*/actions/add_target"},
	{http.StatusUnprocessableEntity, "target_already_defined", "POST", "/load_balancers/*/actions/add_target"},
	{http.StatusUnprocessableEntity, "load_balancer_already_attached", "POST", "/load_balancers/*/actions/attach_to_network"},
	{http.StatusUnprocessableEntity, "ip_not_available", "POST", "/*/*/actions/attach_to_network"},
	{http.StatusUnprocessableEntity, "no_subnet_available", "POST", "/*/*/actions/attach_to_network"},
	{http.StatusUnprocessableEntity, "invalid_load_balancer_type", "POST", "/load_balancers/*/actions/change_type"},
	{http.StatusUnprocessableEntity, "targets_without_use_private_ip", "POST", "/load_balancers/*/actions/disable_public_interface"},
	{http.StatusUnprocessableEntity, "source_port_already_used", "POST", "/load_balancers/*/actions/update_service"},
	{http.StatusUnprocessableEntity, "server_not_stopped", "POST", "/primary_ips/*/actions/*assign"},
	{http.StatusUnprocessableEntity, "primary_ip_already_assigned", "POST", "/primary_ips/*/actions/assign"},
	{http.StatusUnprocessableEntity, "server_is_load_balancer_target", "POST", "/primary_ips/*/actions/unassign"},
	{http.StatusPreconditionFailed, "primary_ip_version_mismatch", "POST", "/servers"},
	{http.StatusUnprocessableEntity, "placement_error", "POST", "/servers"},
	{http.StatusUnprocessableEntity, "primary_ip_assigned", "POST", "/servers"},
	{http.StatusUnprocessableEntity, "server_not_stopped", "POST", "/servers/*/actions/add_to_placement_group"},
	{http.StatusUnprocessableEntity, "already_in_placement_group", "POST", "/servers/*/actions/add_to_placement_group"},
	{http.StatusUnprocessableEntity, "server_already_attached", "POST", "/servers/*/actions/attach_to_network"},
	{http.StatusUnprocessableEntity, "networks_overlap", "POST", "/servers/*/actions/attach_to_network"},
	{http.StatusUnprocessableEntity, "invalid_server_type", "POST", "/servers/*/actions/change_type"},
	{http.StatusUnprocessableEntity, "server_not_stopped", "POST", "/servers/*/actions/change_type"},
}

// fits reports whether an operation can be answered with the code.
func (c code) fits(operation string) bool {
	method, at, _ := strings.Cut(operation, " ")
	if c.methods != "" && !strings.Contains(c.methods, method) {
		return false
	}
	ok, err := path.Match(c.paths, at)
	return c.paths == "" || err == nil && ok
}
