package cloud

// Names of fields: the contract between a plan and its executor, which does for
// each of them what it takes. Creations set everything that is desired; what
// of it needs a call of its own is a field of the next plan if that call did
// not happen.
const (
	FieldLabels      = "labels"     // one item for each key; all are written at once
	FieldProtected   = "protected"  // against deletion; of servers also against rebuilding
	FieldReverseDNS  = "reverseDns" // items ipv4 and ipv6; removed: Hetzner's default
	FieldIPRange     = "ipRange"    // of a network: it grows
	FieldExpose      = "exposeRoutesToVswitch"
	FieldSubnetType  = "type" // and the two below: of a subnet; only a new one can have them
	FieldZone        = "networkZone"
	FieldVSwitch     = "vswitchId"
	FieldGateway     = "gateway" // of a route: it is deleted and made again
	FieldRules       = "rules"   // one item for each rule; all are written at once
	FieldApplyTo     = "applyTo" // one item for each label selector
	FieldType        = "type"    // of a server or load balancer
	FieldLocation    = "location"
	FieldAlgorithm   = "algorithm"
	FieldPrivateIP   = "privateIp" // attached to the network with this address
	FieldPublic      = "publicInterface"
	FieldServices    = "services" // items by listenPort
	FieldTargets     = "targets"  // items by label selector, "server 123" or "ip 10.0.0.1"
	FieldDescription = "description"
	FieldPublicIPv4  = "publicIpv4" // of a server; it has to be off
	FieldPublicIPv6  = "publicIpv6"
	FieldFirewalls   = "firewalls"      // of a server: items by name; applied to it directly, or no longer
	FieldGroup       = "placementGroup" // of a server; to join one it has to be off
	FieldBackups     = "backups"
	FieldRescue      = "rescue" // of a server: it is turned off
	FieldISO         = "iso"    // of a server: it is detached
	FieldPower       = "power"  // of a server: it is started
	FieldTTL         = "ttl"
	FieldValues      = "values" // of DNS records; all are written at once
	FieldImage       = "image"
	FieldKeepIPs     = "keepPrimaryIps" // of a server that is created: its addresses outlive it
	FieldName        = "name"           // of a primary IP
	FieldVolumes     = "volumes"        // of a server that is created: what it has already
	FieldSize        = "size"           // of a volume: it grows
	FieldServer      = "server"         // of a volume: it is attached
	FieldAutoDelete  = "autoDelete"     // of a primary IP: whether it goes with its server
)
