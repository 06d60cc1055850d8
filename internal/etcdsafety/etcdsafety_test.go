package etcdsafety_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// members writes a cluster in short: a letter for each, h healthy, d down, l
// learning.
func members(short string) (list []etcdsafety.Member) {
	for i, c := range short {
		list = append(list, etcdsafety.Member{Node: fmt.Sprint(i), Cluster: "A", Voter: c != 'l', Healthy: c != 'd'})
	}
	return list
}

func TestStopAndRemove(t *testing.T) {
	for _, c := range []struct {
		members      string
		node         string
		stop, remove string // part of the reason; empty: it may
	}{
		{"h", "0", "", "the last member"},
		{"hl", "1", "", ""},
		{"hh", "0", "", ""},
		{"hd", "0", "0 of 2", "cannot agree"},
		{"hd", "1", "1 of 2", "cannot agree"}, // it may be healthy, and nobody has seen it
		{"hhh", "0", "", ""},
		{"hhd", "0", "1 of 3", "1 of 2"},
		{"hhd", "2", "", ""},
		{"hdd", "1", "1 of 3", "cannot agree"},
		{"hhhh", "0", "", ""},
		{"hhhd", "0", "2 of 4", ""},
		{"hhhdd", "0", "2 of 5", "2 of 4"},
		{"hhhdd", "4", "", ""},
		{"hhh", "9", "", ""},
	} {
		list := members(c.members)
		for _, v := range []struct{ what, got, want string }{
			{"stop", etcdsafety.CanStop(list, c.node), c.stop}, {"remove", etcdsafety.CanRemove(list, c.node), c.remove},
		} {
			if (v.want == "") != (v.got == "") || !strings.Contains(v.got, v.want) {
				t.Errorf("%s, %s %s: got %q, want %q", c.members, v.what, c.node, v.got, v.want)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	two := append(members("h"), etcdsafety.Member{Node: "9", Cluster: "B"})
	for _, c := range []struct {
		name          string
		before, after []etcdsafety.Member
		chosen        bool
		want          string
	}{
		{"all is well", members("hhh"), members("hhd"), true, ""},
		{"too many at once", members("hhh"), members("hdd"), true, "lost its quorum: 1 of 3"},
		{"that just happened", members("hhh"), members("hdd"), false, ""},
		{"it was lost before", members("hdd"), members("hdd"), true, ""},
		{"a single one reboots", members("h"), members("d"), true, ""},
		{"of two, one is removed while the other is down", members("hd"), members("d"), true, ""},
		{"of three, a healthy one is removed while one is down", members("hhd"), members("hd"), true, "lost its quorum: 1 of 2"},
		{"the last one", members("h"), nil, true, "the last member"},
		{"two clusters", members("h"), two, false, "two etcd clusters: [A B]"},
	} {
		got := strings.Join(etcdsafety.Check(c.before, c.after, c.chosen), "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
