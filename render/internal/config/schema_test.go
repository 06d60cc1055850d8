package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// TestTags holds the tags of package schemas to what this decoder makes of
// them: every example is a valid value, every default too, every pattern
// compiles.
func TestTags(t *testing.T) {
	checked := 0
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for _, f := range fieldsOf(typ) {
			inner := f.Type
			for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, inner.Kind()) {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[yaml.Node]() {
				walk(inner)
				continue
			}
			for _, tag := range []string{"format", "keyFormat"} {
				if name := f.Tag.Get(tag); name != "" && formatCases[name].good == "" {
					t.Errorf("the format %s is not in formatCases", name)
				}
			}
			if f.Tag.Get("example") == "" {
				t.Errorf("%s.%s has no example", typ.Name(), f.Name)
			}
			for _, tag := range []string{"example", "default"} {
				if text, ok := schemas.Tag(f.Tag, tag); ok {
					checked++
					checkTag(t, typ.Name()+"."+f.Name, tag, text, f)
				}
			}
		}
	}
	walk(reflect.TypeFor[schemas.Cluster]())
	if checked < 300 {
		t.Errorf("only %d tags checked: the walk is broken", checked)
	}
}

func checkTag(t *testing.T, what, tag, text string, f reflect.StructField) {
	what += " " + tag
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	value := doc.Content[0]
	if f.Type.Kind() == reflect.String && tag == "default" {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	}
	var problems diag.List
	d := decoder{problems: &problems, pos: map[string]diag.Pos{}}
	out := reflect.New(f.Type).Elem()
	d.field(value, value, f, out, []string{f.Name})
	if err := problems.Err(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if tag == "default" {
		filled := reflect.New(f.Type).Elem()
		setDefault(f, filled)
		if !reflect.DeepEqual(filled.Interface(), out.Interface()) {
			t.Errorf("%s: filled in as %v, written as %v", what, filled, out)
		}
	}
}

var formatCases = map[string]struct{ good, bad string }{
	"addressRange":   {"10.0.0.1-10.0.0.9 10.0.0.0/28 fd00::1-fd00::9 fd00::/120", "10.0.0.1 10.0.0.1- 10.0.0.1-x a/8"},
	"ageRecipient":   {"age1am3j6k6r06rkvs7fns29erfxxfds434e6geqj29gfmcpfrskfgtse76mk3", "age1 AGE-SECRET-KEY-1"},
	"algorithm":      {"rfc4106(gcm(aes))", "A a/b"},
	"argument":       {"v feature-gates", "--v a=b"},
	"bucket":         {"my-backup a.b", "ab My -ab"},
	"cron":           {"@daily", "daily 5 @never"},
	"description":    {"a", ""},
	"duration":       {"90s 1h30m 500ms", "90 s 1d -1s"},
	"gitBranch":      {"main release/1.x feature_a", "-a a/ .a a..b/"},
	"gitRepository":  {"https://github.com/a/b ssh://git@git.example.com:2222/a.git ssh://git@[fd00::1]/a", "http://a/b git@github.com:a/b https://github.com https://a/b?c https://u:p@a/b"},
	"knownHost":      {"a␣ssh-ed25519␣AAAA [a]:2222␣ssh-ed25519␣AAA=␣me@example.com", "a a␣AAAA ␣ssh-rsa␣AAAA"},
	"repositoryPath": {"a a/b-c/d.e", "/a a/ ../a a/../b a//b"},
	"host":           {"10.0.0.1 fd00::1 a.example.com localhost", "A 10.0.0.300 a:6443 a/b"},
	"email":          {"ops@example.com a.b+c@mail.example.com", "ops ops@ @example.com a␣b@example.com a@b@example.com"},
	"hostname":       {"example.com www.example.com *.example.com", "* *.* www.*.example.com Example.com .example.com example.com."},
	"identifier":     {"hel1 cpx22 1-a", "A a_b -a"},
	"diskSize":       {"100GB >=100GB <2TiB ==0.5t 40 <=10k", "big 100XB =100 >100GB/s 10.GB"},
	"diskText":       {"a* /pci0000:00/* x?", ""},
	"ociDigest":      {"sha256:" + strings.Repeat("0a", 32), "sha256:0 md5:" + strings.Repeat("0a", 32)},
	"ociURL":         {"oci://ghcr.io/a/b oci://127.0.0.1:5000/a oci://localhost/a.b_c-d", "https://ghcr.io/a oci://ghcr.io oci://ghcr.io/a:v1 oci://u:p@ghcr.io/a oci://ghcr.io/A oci://ghcr.io/a@sha256:0"},
	"publicKey":      {"-----BEGIN␣PUBLIC␣KEY-----¶MFkw==¶-----END␣PUBLIC␣KEY-----¶", "MFkw -----BEGIN␣PRIVATE␣KEY-----¶MFkw==¶-----END␣PRIVATE␣KEY-----"},
	"index":          {"1 20 9999", "0 01 10000 a -1"},
	"overlay":        {"rpi_generic rock64 a-b", "A _a a.b"},
	"image":          {"a.example.com/b/c:v1 a:5000/b:v1 a/b:v1@sha256:" + strings.Repeat("0a", 32), "a/b a/b: A@b a/b:v1@sha256:0"},
	"imageTag":       {"v1.34.5", ".a a/b a:b"},
	"issuer":         {"https://a https://a/b", "http://a https://a?b https://u@a"},
	"kernelArg":      {"a=b,c", ""},
	"kernelModule":   {"nbd br_netfilter", "-a a/b"},
	"kubernetesName": {"a system:node PodSecurity", "a/b -a"},
	"labelSelector":  {"a a=b,c!=d", ""},
	"logEndpoint":    {"tcp://192.168.1.30:5140 udp://[fd00::1]:5140/ tcp://a.example.com:1", "tcp://a http://a:1 tcp://a:0 tcp://a:1/b"},
	"nonEmpty":       {"a", ""},
	"fieldPath":      {"spec spec.template.spec.volumes[0].secret", "␣ a␣b"},
	"objectPattern":  {"Secret/default/web ClusterRole.rbac.authorization.k8s.io/system:a ConfigMap/*/* Namespace/a", "Secret secret/a/b Secret/ Secret/a/ Secret/a/b/c Secret.Apps/a"},
	"objectPrefix":   {"a a/b", "/a a/"},
	"pgpPublicKey":   {"-----BEGIN␣PGP␣PUBLIC␣KEY␣BLOCK-----¶¶mDMEZ+/=¶-----END␣PGP␣PUBLIC␣KEY␣BLOCK-----¶", "mDMEZ -----BEGIN␣PGP␣PRIVATE␣KEY␣BLOCK-----¶¶lFgE¶-----END␣PGP␣PRIVATE␣KEY␣BLOCK-----¶"},
	"path":           {"/ /var/lib", "a"},
	"portRange":      {"80 80-85 any 65535", "0 65536 85-80 80- a"},
	"rdnsTemplate":   {"a.b {{hostname}}.a {{hostname}}-{{ip-type}}.a", "a_b {{host}} {{}} {{hostname}"},
	"recordName":     {"@ a a.b *.a * _a", "a* A a. *a"},
	"registryOrAll":  {"* docker.io a:5000", "** a/b"},
	"relativePath":   {"../a a/b", "/a"},
	"resourceName":   {"a my-key me@example.com", "-a a/b " + strings.Repeat("a", 129)},
	"sysctl":         {"a.b net/ipv4/conf/eth0.100/forwarding", "a .a a= a."},
	"url":            {"https://a http://a:5000/b", "a ftp://a https://u:p@a https://"},
	"variable":       {"A _a a1", "1a a-b ${A}"},
	"chartName":      {"cilium a.b_c", "a/b -a ../a"},
	"chartRepo":      {"https://a oci://a/b", "a file:///a https://u:p@a git://a"},
	"sha256":         {strings.Repeat("0a", 32), "abc " + strings.Repeat("0A", 32)},
	"cidr":           {"10.0.0.0/16 fd00::/64 0.0.0.0/0", "10.0.0.1/16 10.0.0.0 10.0.0.0/33 x/8 ::ffff:1.2.3.0/120 fd00::1/64"},
	"clusterName":    {"a dev talos-k8s 1a", "A -a a- a.b a_b a/b .. " + strings.Repeat("a", 33)},
	"devicePath":     {"/dev/sda /dev/disk/by-id/x", "sda /dev/ /sda"},
	"dnsLabel":       {"a " + strings.Repeat("a", 63), "a/b ../x a. " + strings.Repeat("a", 64)},
	"dnsName":        {"cluster.local a", ".a a..b A.b"},
	"endpoint":       {"https://10.0.0.10:6443 https://[fd00::1]:6443 https://api.example.com:443 https://a:6443/", "http://a:1 https://a https://a:0 https://a:65536 https://a:1/x https://10.0.0.300:6443 https://fd00::1:6443 https://[x]:1 https://u@a:1 https://[10.0.0.1.2]:1"},
	"extension":      {"siderolabs/qemu-guest-agent", "qemu-guest-agent siderolabs/ a/b/c"},
	"fingerprint":    {"cBoPHCpSUqN0nBwHaWuFsj2+MCnsYMvFsALAmB4pB0k=", "cBoPHCpSUqN0 " + strings.Repeat("A", 44) + " " + strings.Repeat("A", 43)},
	"ip":             {"10.0.0.1 fd00::1", "10.0.0 300.0.0.1 10.0.0.1/24 ::ffff:1.2.3.4 fe80::1%eth0"},
	"ipPrefix":       {"10.0.0.1/24 fd00::1/64 10.0.0.1/32 10.0.0.0/31", "10.0.0.1 10.0.0.0/24"},
	"labelKey":       {"a example.com/a A_b.c", "/a a/b/c -a a- a/ Example.com/a " + strings.Repeat("a", 64) + " " + strings.Repeat("a.", 130) + "a/b"},
	"labelValue":     {"a A_b.c " + strings.Repeat("a", 63), "-a a/b a: " + strings.Repeat("a", 64)},
	"linkName":       {"eth0 enp0s31f6", "a/b averyverylonglinkname"},
	"mac":            {"52:54:00:12:34:56 52-54-00-AB-cd-56", "52:54:00:12:34 525400123456 52:54:00:12:34:5g"},
	"minorVersion":   {"v1.13 1.13", "1 v1.13.1 1.x"},
	"registry":       {"factory.talos.dev localhost:5000", "https://x x/y x:99999 :5000"},
	"schematic":      {strings.Repeat("0a", 32), strings.Repeat("0A", 32) + " abc"},
	"serial":         {"5QX0RM2", ""},
	"smbShare":       {"//nas.example.com/share //u1.your-storagebox.de/backup/a", "nas/share //nas //nas/ /nas/share smb://nas/share"},
	"taint":          {"a=b:NoSchedule a:NoExecute a=:PreferNoSchedule example.com/a=b:NoSchedule", "a a=b a=b:Never =b:NoSchedule a=b=c:NoSchedule a:b:NoSchedule"},
	"uuid":           {"4c4c4544-0051-3010-8052-b4c04f4d3132", "4c4c4544 4c4c4544005130108052b4c04f4d3132"},
	"volumeName":     {"d data my-data", "-a a- A a_b abcdefghijabcdefghijabcdefghijabcde"},
	"talosVersion":   {"v1.14.1 1.14.1 v1.14.0-beta.1", "1.14 latest v1 v1.14.1.1"},
	"version":        {"1.36.0 v1.14.1 v1.14.0-beta.1", "1.36 latest v1 1.36.0.1"},
}

func TestFormats(t *testing.T) {
	spaces := strings.NewReplacer("␣", " ", "¶", "\n")
	for name, tt := range formatCases {
		for _, text := range strings.Fields(tt.good) {
			text = spaces.Replace(text)
			if _, complaint := checkFormat(name, text); complaint != "" {
				t.Errorf("%s: %q %s", name, text, complaint)
			}
		}
		for _, text := range strings.Fields(tt.bad) {
			text = spaces.Replace(text)
			if _, complaint := checkFormat(name, text); complaint == "" {
				t.Errorf("%s: %q is taken", name, text)
			}
		}
		// A description is for people.
		if f, _ := schemas.FormatOf(name); !slices.Contains([]string{"description"}, name) && regexp.MustCompile(f.Pattern).MatchString("a b\nc") {
			t.Errorf("%s matches several lines", name)
		}
	}
}

// What may be a secret in the wrong place is not shown.
func TestFormatsDoNotShowSecrets(t *testing.T) {
	for _, tt := range []struct{ format, text string }{
		{"url", "https://user:CANARY@example.com"},
		{"gitRepository", "https://user:CANARY@example.com/a"},
		{"issuer", "https://user:CANARY@example.com"},
		{"logEndpoint", "tcp://user:CANARY@example.com:1"},
		{"endpoint", "https://user:CANARY@example.com:6443"},
		{"variable", "CANARY!"},
		{"ageRecipient", "AGE-SECRET-KEY-1CANARY"},
	} {
		if _, complaint := checkFormat(tt.format, tt.text); complaint == "" || strings.Contains(complaint, "CANARY") {
			t.Errorf("%s: %q", tt.format, complaint)
		}
	}
}

func TestFormatsNormalise(t *testing.T) {
	for _, tt := range []struct{ format, in, want string }{
		{"mac", "52-54-00-AB-CD-EF", "52:54:00:ab:cd:ef"},
		{"uuid", "4C4C4544-0051-3010-8052-B4C04F4D3132", "4c4c4544-0051-3010-8052-b4c04f4d3132"},
		{"cidr", "FD00:0::/64", "fd00::/64"},
		{"ip", "FD00:0::1", "fd00::1"},
		{"endpoint", "https://a:6443/", "https://a:6443"},
	} {
		if got, complaint := checkFormat(tt.format, tt.in); got != tt.want || complaint != "" {
			t.Errorf("%s %q: got %q %s, want %q", tt.format, tt.in, got, complaint, tt.want)
		}
	}
}
