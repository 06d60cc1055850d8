package schemas

// Format is a form that texts in a file have.
type Format struct {
	Pattern string // a regular expression that Go and JavaScript read alike
	Meaning string // "must be …"
}

// FormatOf returns a format by the name that it has in a tag.
func FormatOf(name string) (Format, bool) {
	f, ok := formats[name]
	return f, ok
}

// Parts of patterns.
const (
	label     = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`
	dnsName   = label + `(\.` + label + `)*`
	qualified = `[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
	labelKey  = `(` + dnsName + `/)?` + qualified
	ip        = `([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)`
	port      = `[0-9]{1,5}`
)

var formats = map[string]Format{
	"cidr":         {`^` + ip + `/[0-9]{1,3}$`, "a subnet such as 10.0.0.0/16"},
	"clusterName":  {`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`, "at most 32 lower-case letters, digits and inner hyphens"},
	"devicePath":   {`^/dev/[^\s]+$`, "the path of a disk such as /dev/sda"},
	"dnsLabel":     {`^` + label + `$`, "at most 63 lower-case letters, digits and inner hyphens"},
	"dnsName":      {`^` + dnsName + `$`, "a lower-case domain name such as cluster.local"},
	"endpoint":     {`^https://(` + dnsName + `|\[[0-9A-Fa-f:.]+\]):` + port + `/?$`, "a URL such as https://10.0.0.10:6443 or https://[fd00::10]:6443"},
	"extension":    {`^[a-z0-9][-a-z0-9._]*/[a-z0-9][-a-z0-9._]*$`, "the name of an official extension such as siderolabs/qemu-guest-agent"},
	"identifier":   {`^[a-z0-9][-a-z0-9]*$`, "lower-case letters, digits and hyphens"},
	"ip":           {`^` + ip + `$`, "an IP address such as 192.168.1.1"},
	"ipPrefix":     {`^` + ip + `/[0-9]{1,3}$`, "an address with its prefix length such as 192.168.1.10/24"},
	"kernelArg":    {`^[^\s]+$`, "one kernel argument, without spaces"},
	"labelKey":     {`^` + labelKey + `$`, "a Kubernetes key: an optional domain and /, then at most 63 letters, digits, -, _ and ."},
	"labelValue":   {`^(` + qualified + `)?$`, "a Kubernetes label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"},
	"linkName":     {`^[^\s/:]{1,15}$`, "the name of a network link such as eth0"},
	"mac":          {`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$`, "a MAC address such as 52:54:00:12:34:56"},
	"minorVersion": {`^v?[0-9]+\.[0-9]+$`, "a minor version such as v1.13"},
	"registry":     {`^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:` + port + `)?$`, "the host of a registry, without https://"},
	"relativePath": {`^[^/].*$`, "a path relative to the directory of this file"},
	"schematic":    {`^[0-9a-f]{64}$`, "a schematic id: 64 hexadecimal digits"},
	"serial":       {`^[^\s](.*[^\s])?$`, "a serial number"},
	"taint":        {`^` + labelKey + `(=(` + qualified + `)?)?:(NoSchedule|PreferNoSchedule|NoExecute)$`, "key=value:Effect or key:Effect, with the effect NoSchedule, PreferNoSchedule or NoExecute"},
	"uuid":         {`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`, "a UUID such as 4c4c4544-0051-3010-8052-b4c04f4d3132"},
	"version":      {`^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`, "a version such as 1.36.0, with all three numbers"},
}
