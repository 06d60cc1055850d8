package access

import (
	"crypto/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestKubernetesSubject(t *testing.T) {
	for _, tt := range []struct {
		name, user string
		groups     []string
		want       Subject
		problem    string
	}{
		{name: "nobody is named", want: Subject{"admin", []string{"system:masters"}}},
		{name: "groups", groups: []string{"viewers", "deployers", "viewers"}, want: Subject{"talosgen", []string{"deployers", "viewers"}}},
		{name: "user", user: "jane", want: Subject{"jane", nil}},
		{name: "masters by name", user: "jane", groups: []string{"system:masters"}, want: Subject{"jane", []string{"system:masters"}}},
		{name: "kubelet", user: "system:node:a", groups: []string{"system:nodes"}, problem: `--user: "system:node:a" is of a component`},
		{name: "nodes", groups: []string{"system:nodes"}, problem: `--group: "system:nodes" is of components`},
		{name: "nothing", groups: []string{""}, problem: `--group: "" is not the name of a group`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := KubernetesSubject(tt.user, tt.groups)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || diag.CodeOf(err) != diag.Usage {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// X.509 sorts the groups of a certificate by its own order: it stays all the same.
func TestCertificateForGroupsStays(t *testing.T) {
	a := newAuthority(t, "ecdsa")
	who := Subject{User: "jane", Groups: []string{"a-long-name", "b"}}
	id, err := a.Sign(who, ECDSA, time.Hour, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Usable(id.Certificate, []byte(id.Key.Reveal()), who, time.Hour, now); !ok {
		t.Error("a certificate for the same groups is not kept")
	}
	if _, ok := a.Usable(id.Certificate, []byte(id.Key.Reveal()), Subject{User: "jane", Groups: []string{"b"}}, time.Hour, now); ok {
		t.Error("a certificate for more groups is kept")
	}
}
