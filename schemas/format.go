package schemas

import "github.com/talosgen/talosgen/internal/versions"

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
	"addressRange":   {`^` + ip + `(/[0-9]{1,3}|-` + ip + `)$`, "a range such as 192.168.1.240-192.168.1.250, or a subnet"},
	"ageRecipient":   {`^age1[02-9ac-hj-np-z]{58}$`, "the public half of an age key, which begins with age1"},
	"algorithm":      {`^[a-z0-9][-a-z0-9()]*$`, "the name of an algorithm such as rfc4106(gcm(aes))"},
	"argument":       {`^[A-Za-z0-9][-A-Za-z0-9_.]*$`, "the name of an argument, without --"},
	"bucket":         {`^[a-z0-9][-a-z0-9.]{1,61}[a-z0-9]$`, "the name of a bucket: 3 to 63 lower-case letters, digits, - and ."},
	"cidr":           {`^` + ip + `/[0-9]{1,3}$`, "a subnet such as 10.0.0.0/16"},
	"chartName":      {`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`, "the name of a chart"},
	"chartRepo":      {`^(https?|oci)://[^\s@]+$`, "a URL that begins with https://, http:// or oci://, without a password"},
	"clusterName":    {`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`, "at most 32 lower-case letters, digits and inner hyphens"},
	"cron":           {`^(@(hourly|daily|weekly|monthly|yearly)|[-0-9A-Za-z*/,]+( [-0-9A-Za-z*/,]+){4})$`, "a schedule of cron such as 0 3 * * *"},
	"description":    {`^[^\s](.{0,253}[^\s])?$`, "a text of at most 255 characters"},
	"devicePath":     {`^/dev/[^\s]+$`, "the path of a disk such as /dev/sda"},
	"diskSize":       {`^((>=|<=|>|<|==) ?)?[0-9]+(\.[0-9]+)? ?([kKmMgGtTpP][iI]?)?[bB]?$`, "a size such as 100GB, or a bound such as >= 100GB"},
	"diskText":       {`^[^\s](.*[^\s])?$`, "a text without spaces at its ends"},
	"dnsLabel":       {`^` + label + `$`, "at most 63 lower-case letters, digits and inner hyphens"},
	"dnsName":        {`^` + dnsName + `$`, "a lower-case domain name such as cluster.local"},
	"duration":       {`^([0-9]+(ms|s|m|h))+$`, "a duration such as 90s or 1h30m"},
	"email":          {`^[^\s@]+@` + dnsName + `$`, "an e-mail address"},
	"endpoint":       {`^https://(` + dnsName + `|\[[0-9A-Fa-f:.]+\]):` + port + `/?$`, "a URL such as https://10.0.0.10:6443 or https://[fd00::10]:6443"},
	"extension":      {`^[a-z0-9][-a-z0-9._]*/[a-z0-9][-a-z0-9._]*$`, "the name of an official extension such as siderolabs/qemu-guest-agent"},
	"gitBranch":      {`^[A-Za-z0-9_][-A-Za-z0-9_]*([./][-A-Za-z0-9_]+)*$`, "the name of a branch"},
	"gitRepository":  {`^(https|ssh)://([-A-Za-z0-9_.]+@)?(` + dnsName + `|` + `[0-9.]+|\[[0-9A-Fa-f:.]+\])(:` + port + `)?/[^\s?#]+$`, "a URL such as https://github.com/example/clusters or ssh://git@github.com/example/clusters.git"},
	"host":           {`^(` + ip + `|` + dnsName + `)$`, "an IP address or a lower-case domain name"},
	"hostname":       {`^(\*\.)?` + dnsName + `$`, "a lower-case domain name such as www.example.com, or *.example.com for all in a domain"},
	"identifier":     {`^[a-z0-9][-a-z0-9]*$`, "lower-case letters, digits and hyphens"},
	"image":          {`^[A-Za-z0-9]([-A-Za-z0-9._/:]*[A-Za-z0-9])?:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}(@sha256:[0-9a-f]{64})?$`, "a container image with its tag such as registry.example.com/app:v1.0.0"},
	"imageTag":       {`^[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}$`, "the tag of a container image"},
	"index":          {`^[1-9][0-9]{0,3}$`, "the index of a node, from 1 to 9999"},
	"ip":             {`^` + ip + `$`, "an IP address such as 192.168.1.1"},
	"ipPrefix":       {`^` + ip + `/[0-9]{1,3}$`, "an address with its prefix length such as 192.168.1.10/24"},
	"issuer":         {`^https://[^\s?#@]+$`, "a URL that begins with https://"},
	"kernelArg":      {`^[^\s]+$`, "one kernel argument, without spaces"},
	"kernelModule":   {`^[A-Za-z0-9_][-A-Za-z0-9_]*$`, "the name of a kernel module"},
	"kubernetesName": {`^[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?$`, "the name of a Kubernetes object"},
	"knownHost":      {`^[^\s]+ [-a-z0-9@.]+ [A-Za-z0-9+/]+={0,2}( [^\s]+)?$`, "a line of a known_hosts file: host, type and key"},
	"labelKey":       {`^` + labelKey + `$`, "a Kubernetes key: an optional domain and /, then at most 63 letters, digits, -, _ and ."},
	"labelSelector":  {`^[^\s].*$`, "a label selector such as nodepool=edge"},
	"labelValue":     {`^(` + qualified + `)?$`, "a Kubernetes label value: at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"},
	"linkName":       {`^[^\s/:]{1,15}$`, "the name of a network link such as eth0"},
	"logEndpoint":    {`^(tcp|udp)://(` + dnsName + `|` + `[0-9.]+|\[[0-9A-Fa-f:.]+\]):` + port + `/?$`, "a URL such as tcp://192.168.1.30:5140"},
	"fingerprint":    {`^[A-Za-z0-9+/]{43}=$`, "the fingerprint of a key: a SHA-256 digest in base64"},
	"mac":            {`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$`, "a MAC address such as 52:54:00:12:34:56"},
	"minorVersion":   {`^v?[0-9]+\.[0-9]+$`, versions.Fill("a minor version such as <older contract>")},
	"nonEmpty":       {`^[^\s](.*[^\s])?$`, "a text without space at its ends"},
	"fieldPath":      {`^[^\s]+$`, "the path of a field such as spec.template.spec.volumes[0]"},
	"objectPattern":  {`^[A-Z][A-Za-z0-9]*(\.[-a-z0-9.]+)?/[^\s/]+(/[^\s/]+)?$`, "an object such as Secret/default/web or ClusterRole.rbac.authorization.k8s.io/web; * stands for any text"},
	"objectPrefix":   {`^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$`, "letters, digits, -, _, . and /"},
	"ociDigest":      {`^sha256:[0-9a-f]{64}$`, "a digest: sha256: and 64 hexadecimal digits"},
	"ociURL":         {`^oci://` + `[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:` + port + `)?(/[a-z0-9]([-._a-z0-9]*[a-z0-9])?)+$`, "a URL such as oci://ghcr.io/example/clusters, without a tag"},
	"overlay":        {`^[a-z0-9][-_a-z0-9]*$`, "lower-case letters, digits, hyphens and underscores"},
	"pgpPublicKey":   {`^-----BEGIN PGP PUBLIC KEY BLOCK-----\n[-A-Za-z0-9+/=:.,()<>@ \n]+\n-----END PGP PUBLIC KEY BLOCK-----\n?$`, "an OpenPGP public key, as gpg --armor --export prints it"},
	"path":           {`^/[^\s]*$`, "an absolute path"},
	"portRange":      {`^(any|` + port + `(-` + port + `)?)$`, "a port such as 80, a range such as 80-85, or any"},
	"publicKey":      {`^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]+\n-----END PUBLIC KEY-----\n?$`, "a public key in PEM, as cosign public-key prints it"},
	"rdnsTemplate":   {`^([-A-Za-z0-9.]|\{\{ *[a-z-]+ *\}\})+$`, "a domain name, with {{ hostname }} and the like in it"},
	"recordName":     {`^(@|(\*\.)?[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*|\*)$`, "a name in a zone such as api.k8s, or @ for the zone itself"},
	"registry":       {`^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:` + port + `)?$`, "the host of a registry, without https://"},
	"registryOrAll":  {`^(\*|[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:` + port + `)?)$`, "the host of a registry, without https://, or *"},
	"relativePath":   {`^[^/].*$`, "a path relative to the directory of this file"},
	"repositoryPath": {`^[A-Za-z0-9_][-A-Za-z0-9_.]*(/[A-Za-z0-9_][-A-Za-z0-9_.]*)*$`, "a path in a repository such as clusters/prod"},
	"resourceName":   {`^[A-Za-z0-9]([-A-Za-z0-9_.@ ]{0,126}[A-Za-z0-9])?$`, "a name of letters, digits, inner -, _, ., @ and spaces"},
	"schematic":      {`^[0-9a-f]{64}$`, "a schematic id: 64 hexadecimal digits"},
	"serial":         {`^[^\s](.*[^\s])?$`, "a serial number"},
	"sha256":         {`^[0-9a-f]{64}$`, "a SHA-256 digest: 64 hexadecimal digits"},
	"smbShare":       {`^//[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?/[^\s/][^\s]*$`, "a server and its share such as //nas.example.com/share"},
	"sysctl":         {`^[A-Za-z0-9_]+([./][-A-Za-z0-9_:*]+)+$`, "the name of a kernel parameter such as vm.max_map_count"},
	"taint":          {`^` + labelKey + `(=(` + qualified + `)?)?:(NoSchedule|PreferNoSchedule|NoExecute)$`, "key=value:Effect or key:Effect, with the effect NoSchedule, PreferNoSchedule or NoExecute"},
	"talosVersion":   {`^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`, versions.Fill("a version such as <talos>, with all three numbers")},
	"url":            {`^https?://[^\s@]+$`, "a URL that begins with https:// or http://, without a password"},
	"uuid":           {`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`, "a UUID such as 4c4c4544-0051-3010-8052-b4c04f4d3132"},
	"variable":       {`^[A-Za-z_][A-Za-z0-9_]*$`, "the name of a variable, without ${ and }"},
	"volumeName":     {`^[a-z0-9]([-a-z0-9]{0,32}[a-z0-9])?$`, "at most 34 lower-case letters, digits and inner hyphens"},
	"version":        {`^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`, versions.Fill("a version such as <kubernetes>, with all three numbers")},
}
