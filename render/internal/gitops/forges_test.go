package gitops

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// fingerprints are those that the owners of the servers publish, beside the
// keys.
var fingerprints = map[string][]string{
	"github.com":    {"SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM", "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"},
	"gitlab.com":    {"SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw", "SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8"},
	"bitbucket.org": {"SHA256:FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0", "SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM"},
	"codeberg.org":  {"SHA256:T9FYDEHELhVkulEKKwge5aVhVTbqCW0MIRwAfpARs/E", "SHA256:mIlxA9k46MmM6qdJOdMnAQpzGxF4WIVVL+fj+wZbw0g"},
	"git.sr.ht":     {"SHA256:1nUUjsHH0qwfjI3dYFWlXTjPUP/Un1oo6wfu9YL8tCQ", "SHA256:WXXNZu0YyoE3KBl5qh4GsnF1vR0NeEPYJAiPME+P09g"},
}

func TestKnownServers(t *testing.T) {
	for host := range knownServers {
		lines, problem := KnownHosts("ssh://git@"+host+"/a/b.git", nil)
		if problem != nil {
			t.Errorf("%s: %v", host, problem)
		}
		var found []string
		for rest := []byte(lines); len(rest) > 0; {
			_, hosts, key, _, after, err := ssh.ParseKnownHosts(rest)
			if err != nil || len(hosts) != 1 || hosts[0] != host {
				t.Fatalf("%s: %v, %v", host, hosts, err)
			}
			found, rest = append(found, ssh.FingerprintSHA256(key)), after
		}
		if strings.Join(found, " ") != strings.Join(fingerprints[host], " ") {
			t.Errorf("%s has the keys %v", host, found)
		}
	}
}

func TestKnownHosts(t *testing.T) {
	for _, tt := range []struct {
		repository string
		given      []string
		want       string // the beginning
	}{
		{"ssh://git@git.example.com/a", []string{"git.example.com ssh-ed25519 AAAA", "b"}, "git.example.com ssh-ed25519 AAAA\nb\n"},
		{"ssh://git@github.com/a", []string{"mine"}, "mine\n"},
		{"ssh://git@github.com:22/a", nil, "github.com ecdsa"},
		{"ssh://git@github.com:443/a", nil, ""},
		{"ssh://git@git.example.com/a", nil, ""},
		{"://", nil, ""},
	} {
		got, problem := KnownHosts(tt.repository, tt.given)
		if (problem == nil) != (tt.want != "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, %v", tt.repository, got, problem)
		}
	}
}
