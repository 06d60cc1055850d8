package node

import (
	"strings"
	"testing"
)

// TestEtcdData: only a directory that was read, and has nothing in it, is empty.
func TestEtcdData(t *testing.T) {
	const dir = "/var/lib/etcd"
	a := newAuthority(t)
	for _, tt := range []struct {
		name    string
		entries []string
		failure string
		want    bool
		err     string
	}{
		{"empty", []string{dir}, "", false, ""},
		{"data", []string{dir, dir + "/member"}, "", true, ""},
		{"no answer", nil, "", false, "the node says nothing of " + dir},
		{"not there", []string{}, "lstat /var/lib/etcd: no such file or directory", false, "no such file"},
		{"half read", []string{dir}, "input/output error", false, "input/output error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakeNode{data: tt.entries, failure: tt.failure}
			data, err := connect(t, f.start(t, a, loopback(), a), a.client(a, now)).EtcdData(t.Context())
			if data != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("data %v, %v", data, err)
			}
		})
	}
}
