package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/schemas"
)

// checkFormat returns a text in the spelling that is used from here on, or what
// is wrong with it.
func checkFormat(name, text string) (value, complaint string) {
	if name == "" {
		return text, ""
	}
	format, ok := schemas.FormatOf(name)
	if !ok {
		panic("config: a tag in package schemas has the unknown format " + name)
	}
	if !pattern(format.Pattern).MatchString(text) {
		return "", invalid(name, format, text) + respelled(name, format, text)
	}
	check, ok := semantics[name]
	if !ok {
		return text, ""
	}
	if value, complaint = check(text); complaint == "invalid" {
		complaint = invalid(name, format, text)
	}
	return value, complaint
}

// invalid says what a text must be, and shows it, unless it may be a secret that
// was put into a file that everyone can read.
func invalid(name string, format schemas.Format, text string) string {
	if name == "variable" || name == "ageRecipient" || strings.Contains(text, "@") && strings.Contains(text, "://") {
		return "must be " + format.Meaning
	}
	return fmt.Sprintf("must be %s, not %q", format.Meaning, text)
}

// scpLike is a remote repository as Git and forges write it for SSH, without a
// scheme: user, host and path.
var scpLike = regexp.MustCompile(`^([-A-Za-z0-9_.]+)@([^:/@\s]+):/*([^/\s].*)$`)

// respelled gives the URL of a repository that is written as Git takes it, too;
// nothing for other formats, and for what is no URL in that spelling either.
func respelled(name string, format schemas.Format, text string) string {
	parts := scpLike.FindStringSubmatch(text)
	if name != "gitRepository" || parts == nil {
		return ""
	}
	written := "ssh://" + parts[1] + "@" + parts[2] + "/" + parts[3]
	if !pattern(format.Pattern).MatchString(written) {
		return ""
	}
	return "; write it as " + written
}

var compiled sync.Map // patterns: the same few in every file

func pattern(text string) *regexp.Regexp {
	if re, ok := compiled.Load(text); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile(text)
	compiled.Store(text, re)
	return re
}

// semantics are the rules that a pattern cannot tell. The complaint "invalid"
// stands for the meaning of the format.
var semantics = map[string]func(string) (value, complaint string){
	"cidr":         cidr,
	"endpoint":     endpoint,
	"host":         host,
	"logEndpoint":  endpoint,
	"ip":           ip,
	"ipPrefix":     ipPrefix,
	"labelKey":     labelKey,
	"mac":          mac,
	"portRange":    portRange,
	"rdnsTemplate": rdnsTemplate,
	"registry":     registry,
	"uuid":         func(text string) (string, string) { return strings.ToLower(text), "" },
	"taint": func(text string) (string, string) {
		key, _, _ := strings.Cut(text[:strings.LastIndex(text, ":")], "=")
		_, complaint := labelKey(key)
		return text, complaint
	},
}

func ip(text string) (string, string) {
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Is4In6() {
		return "", "invalid"
	}
	return addr.String(), ""
}

func ipPrefix(text string) (string, string) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return "", "invalid"
	}
	if prefix.Addr() == prefix.Masked().Addr() && !prefix.IsSingleIP() && prefix.Addr().BitLen()-prefix.Bits() > 1 {
		return "", fmt.Sprintf("must be an address in a subnet, and %q is the subnet", text)
	}
	return prefix.String(), ""
}

func cidr(text string) (string, string) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix.Addr().Is4In6() {
		return "", "invalid"
	}
	if masked := prefix.Masked(); masked != prefix {
		return "", fmt.Sprintf("must be a subnet: write %s instead of %q", masked, text)
	}
	return prefix.String(), ""
}

func endpoint(text string) (string, string) {
	u, err := url.Parse(text)
	if err != nil || !validPort(u.Port()) || !validHost(u.Hostname()) {
		return "", "invalid"
	}
	return strings.TrimSuffix(text, "/"), ""
}

func host(text string) (string, string) {
	if addr, err := netip.ParseAddr(text); err == nil && !addr.Is4In6() {
		return addr.String(), ""
	}
	if !validHost(text) || strings.Contains(text, ":") {
		return "", "invalid"
	}
	return text, ""
}

// validHost tells whether a name can be one, or is an address. What ends in a
// number is an address, or nothing.
func validHost(host string) bool {
	_, err := netip.ParseAddr(host)
	lastLabel := host[strings.LastIndex(host, ".")+1:]
	return err == nil || strings.Trim(lastLabel, "0123456789") != "" && len(host) <= 253
}

func labelKey(text string) (string, string) {
	if domain, _, ok := strings.Cut(text, "/"); ok && len(domain) > 253 {
		return "", "has a domain longer than 253 characters"
	}
	return text, ""
}

func mac(text string) (string, string) {
	return strings.ToLower(strings.ReplaceAll(text, "-", ":")), ""
}

func registry(text string) (string, string) {
	if _, port, ok := strings.Cut(text, ":"); ok && !validPort(port) {
		return "", "invalid"
	}
	return text, ""
}

func validPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port > 0 && port < 1<<16
}

// portRange wants ports that exist, the lower one first.
func portRange(text string) (string, string) {
	if text == "any" {
		return text, ""
	}
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	from, _ := strconv.Atoi(low)
	to, _ := strconv.Atoi(high)
	if !validPort(low) || !validPort(high) || from > to {
		return "", "invalid"
	}
	return text, ""
}

// rdnsNames are what can stand in the template of a reverse DNS name.
var rdnsNames = []string{"cluster-domain", "cluster-name", "hostname", "id", "ip-labels", "ip-type", "pool", "role"}

var rdnsName = regexp.MustCompile(`\{\{ *([a-z-]+) *\}\}`)

func rdnsTemplate(text string) (string, string) {
	for _, m := range rdnsName.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(rdnsNames, m[1]) {
			return "", fmt.Sprintf("may have {{ %s }} in it, not %q", strings.Join(rdnsNames, " }}, {{ "), m[0])
		}
	}
	return text, ""
}
