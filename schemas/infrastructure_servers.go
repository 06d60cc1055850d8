package schemas

// InfraServer is a server.
type InfraServer struct {
	Name string `yaml:"name"`
	// What it is: controlplane, worker or nat-gateway.
	Role  string `yaml:"role"`
	Pool  string `yaml:"pool,omitempty"`
	Index int    `yaml:"index,omitempty"`
	// Whether it is there only while nodes of its pool are recreated.
	Surge bool `yaml:"surge,omitempty"`
	// The server types to try, in order.
	Types []string `yaml:"types"`
	// The locations to try, in order.
	Locations  []string   `yaml:"locations"`
	Image      InfraImage `yaml:"image"`
	PrivateIP  string     `yaml:"privateIp"`
	PublicIPv4 bool       `yaml:"publicIpv4"`
	PublicIPv6 bool       `yaml:"publicIpv6"`
	// Whether its public addresses are those of the server that is made in its place.
	KeepPrimaryIPs bool              `yaml:"keepPrimaryIps,omitempty"`
	PlacementGroup string            `yaml:"placementGroup,omitempty"`
	SSHKeys        []string          `yaml:"sshKeys,omitempty"`
	Labels         map[string]string `yaml:"labels"`
	Protected      bool              `yaml:"protected"`
	Backups        bool              `yaml:"backups,omitempty"`
	// Whether the disk keeps its size when the type grows.
	KeepDisk bool `yaml:"keepDisk,omitempty"`
	// What the server is given when it is made; a change does not concern one
	// that lives. See [FillHostKey] for what may stand in it.
	UserData string `yaml:"userData,omitempty"`
	// The public SSH host key of the server, as in an authorized_keys file.
	// The private one is in [HostKeyFile], encrypted.
	HostKey    string          `yaml:"hostKey,omitempty"`
	ReverseDNS InfraReverseDNS `yaml:"reverseDns,omitempty"`
	// The volumes that are attached to it, and to the server that is made in its place.
	Volumes []InfraVolume `yaml:"volumes,omitempty"`
}

// InfraVolume is a volume of a server, with its labels and its protection.
type InfraVolume struct {
	Name string `yaml:"name"`
	Size int    `yaml:"size"` // GB
}

// InfraImage selects the image of a server: by name for one of Hetzner's, by
// labels for a snapshot.
type InfraImage struct {
	Name         string `yaml:"name,omitempty"`
	Selector     string `yaml:"selector,omitempty"`
	Architecture string `yaml:"architecture"` // x86 or arm
}

// InfraSnapshot is a disk image with Talos, and how it is made if there is none.
type InfraSnapshot struct {
	Architecture string `yaml:"architecture"` // x86 or arm
	// The label selector that finds it; the newest one is taken.
	Selector string `yaml:"selector"`
	// Whether apply makes it if there is none.
	Build bool `yaml:"build"`
	// Where its content comes from.
	URL string `yaml:"url"`
	// The schematic that the Image Factory is told before it makes the image;
	// empty if only its id is known.
	Schematic string `yaml:"schematic,omitempty"`
	// The labels that it is made with.
	Labels map[string]string `yaml:"labels"`
	// The server that makes it, if the environment asks for one; else apply
	// chooses from what is sold when it is made.
	BuilderType     string `yaml:"builderType,omitempty"`
	BuilderLocation string `yaml:"builderLocation,omitempty"`
}

// InfraAutoscalerPool is a pool whose servers the autoscaler, a part of the
// cluster, makes and deletes. They have the label hcloud/node-group, with the
// group as value, and names that begin with it.
type InfraAutoscalerPool struct {
	Name     string     `yaml:"name"`
	Group    string     `yaml:"group"`
	Min      int        `yaml:"min"`
	Max      int        `yaml:"max"`
	Type     string     `yaml:"type"`
	Location string     `yaml:"location"`
	Image    InfraImage `yaml:"image"`
	// The subnet that their addresses come from.
	IPRange    string            `yaml:"ipRange"`
	PublicIPv4 bool              `yaml:"publicIpv4"`
	PublicIPv6 bool              `yaml:"publicIpv6"`
	Labels     map[string]string `yaml:"labels"` // of the servers
	// Whether upgrades and changed configurations reach its servers too.
	Discovery bool `yaml:"discovery"`
	// Whether destroy deletes its servers.
	Cleanup bool `yaml:"cleanup"`
}

// InfraDNSRecord is a set of records with one name and type in a zone of
// Hetzner DNS.
type InfraDNSRecord struct {
	Zone string `yaml:"zone"`
	Name string `yaml:"name"` // in the zone; @ is the zone itself
	Type string `yaml:"type"` // A or AAAA
	TTL  int    `yaml:"ttl"`  // seconds
	// Addresses that are known.
	Values []string `yaml:"values,omitempty"`
	// Objects whose public addresses of the type's IP version are added. A
	// record without any address is not made.
	Targets []InfraTarget `yaml:"targets,omitempty"`
}
