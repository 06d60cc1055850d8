package gitops

import (
	"net/url"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// knownServers are the public keys of Git servers that many use, as their owners
// publish them; the first that a client offers to take is ECDSA, so both kinds
// are here. Sources: api.github.com/meta, docs.gitlab.com (GitLab.com settings),
// bitbucket.org/site/ssh, docs.codeberg.org (SSH fingerprints), man.sr.ht.
var knownServers = map[string][]string{
	"github.com": {
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
	},
	"gitlab.com": {
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf",
	},
	"bitbucket.org": {
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO",
	},
	"codeberg.org": {
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBL2pDxWr18SoiDJCGZ5LmxPygTlPu+cCKSkpqkvCyQzl5xmIMeKNdfdBpfbCGDPoZQghePzFZkKJNR/v9Win3Sc=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIVIC02vnjFyL+I4RHfvIGNtOgJMe769VTF1VR4EB3ZB",
	},
	"git.sr.ht": {
		"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBCj6y+cJlqK3BHZRLZuM+KP2zGPrh4H66DacfliU1E2DHAd1GGwF4g1jwu3L8gOZUTIvUptqWTkmglpYhFp4Iy4=",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMZvRd4EtM7R+IHVMWmDkVU3VLQTSwQDSAvW0t2Tkj60",
	},
}

// KnownHosts is the known_hosts file for a repository: the lines that are given,
// or else those of a server that is known.
func KnownHosts(repository string, given []string) (string, *diag.Problem) {
	if len(given) > 0 {
		return strings.Join(given, "\n") + "\n", nil
	}
	u, err := url.Parse(repository)
	if err != nil {
		return "", diag.On("gitops.repository", "is not a URL")
	}
	keys := knownServers[u.Hostname()]
	if keys == nil || u.Port() != "" && u.Port() != "22" {
		return "", diag.On("gitops.knownHosts", "is needed: the public keys of %s are not known", u.Host).
			WithHint("ask the operator of the server for them; `ssh-keyscan` prints lines to compare with")
	}
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(u.Hostname() + " " + key + "\n")
	}
	return b.String(), nil
}
