package cloud

import (
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/schemas"
)

var builderNow = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// shop is a catalogue from lines: a type, its architecture, its disk, and where
// it is sold for how much. A ! in front of a location says that it is sold out,
// a - that the type is no longer sold there, a ~ that it will not be in a month.
func shop(lines string) Catalogue {
	c := Catalogue{Locations: []Location{
		{1, "fsn1", "eu-central"}, {2, "nbg1", "eu-central"}, {3, "hel1", "eu-central"}, {4, "ash", "us-east"}, {5, "hil", "us-west"},
	}}
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		words := strings.Fields(line)
		t := ServerType{Name: words[0], Architecture: words[1]}
		for _, digit := range words[2] {
			t.Disk = t.Disk*10 + int(digit-'0')
		}
		for _, w := range words[3:] {
			name, price, _ := strings.Cut(w, "=")
			l := TypeLocation{Name: strings.TrimLeft(name, "!-~"), Available: !strings.ContainsAny(name, "!-")}
			switch name[0] {
			case '-':
				l.UnavailableAfter = builderNow.Add(-time.Hour)
			case '~':
				l.UnavailableAfter = builderNow.AddDate(0, 1, 0)
			}
			t.Locations = append(t.Locations, l)
			t.Prices = append(t.Prices, TypePrice{Location: l.Name, Monthly: Price{Net: price, Gross: price}})
		}
		c.ServerTypes = append(c.ServerTypes, t)
	}
	return c
}

// Today is near what Hetzner sold in November 2026.
const today = `
cpx11 x86 40 -fsn1=4.35 -nbg1=4.35 -hel1=4.35 ash=4.99 hil=4.99
cx22  x86 40 -fsn1=3.79 -nbg1=3.79 -hel1=3.79
cx23  x86 40 fsn1=2.99 nbg1=2.99 hel1=2.99
cpx12 x86 40 fsn1=5.49 nbg1=5.49 hel1=5.49
cpx22 x86 80 fsn1=6.49 nbg1=6.49 hel1=6.49
cax11 arm 40 fsn1=3.79 nbg1=3.79 hel1=3.79
cax21 arm 80 fsn1=6.49 nbg1=6.49 hel1=6.49`

// builderCases say what is chosen: the server types and locations of the
// cluster's servers, what is asked for, and the first candidates with the
// reason.
var builderCases = []struct {
	name, catalogue, types, locations, arch, asked string
	want                                           string // the first three candidates
	reason, problem                                string
}{
	{"in Europe", today, "cpx22", "hel1", "x86", "", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", ""},
	{"in three locations", today, "cpx22", "nbg1 hel1", "x86", "", "cx23@nbg1 cx23@hel1 cpx12@nbg1", "the cheapest where the cluster has servers", ""},
	{"in America", today, "cpx11", "hil", "x86", "", "cpx11@hil cx23@fsn1 cx23@hel1", "the cheapest where the cluster has servers", ""},
	{"arm", today, "cax11", "fsn1", "arm", "", "cax11@fsn1 cax11@hel1 cax11@nbg1", "the cheapest where the cluster has servers", ""},
	{"arm, of a cluster that is elsewhere too", today, "cax21", "ash", "arm", "", "cax11@fsn1 cax11@hel1 cax11@nbg1", "the cheapest of all locations; none is available in us-east", ""},
	{"the disk of the smallest server", today, "cx23", "hel1", "x86", "", "cx23@hel1 cpx12@hel1 cx23@fsn1", "the cheapest where the cluster has servers", ""},
	{"sold out here", "a x86 40 !hel1=1 nbg1=2\nb x86 40 fsn1=3 ash=0.5", "a", "hel1", "x86", "", "a@nbg1 b@fsn1 b@ash", "the cheapest in the network zone; none is available in hel1", ""},
	{"sold out in the zone", "a x86 40 !hel1=1 !nbg1=2 ash=9", "a", "hel1", "x86", "", "a@ash a@hel1 a@nbg1", "the cheapest of all locations; none is available in eu-central", ""},
	{"sold out everywhere", "a x86 40 !hel1=1 !nbg1=2 !ash=0.5", "a", "hel1", "x86", "", "a@hel1 a@nbg1 a@ash", "the cheapest; all are sold out at the moment", ""},
	{"a price of a location", "a x86 40 hel1=5 ash=1\nb x86 40 hel1=4 ash=9", "a", "hel1", "x86", "", "b@hel1 a@hel1 a@ash", "the cheapest where the cluster has servers", ""},
	{"ten is more than nine", "a x86 40 hel1=10\nb x86 40 hel1=9", "a", "hel1", "x86", "", "b@hel1 a@hel1", "the cheapest where the cluster has servers", ""},
	{"of the same price the smaller disk", "a x86 80 hel1=1\nb x86 40 hel1=1.00", "a", "hel1", "x86", "", "b@hel1 a@hel1", "the cheapest where the cluster has servers", ""},
	{"a price that is none", "a x86 40 hel1=?\nb x86 40 hel1=9", "a", "hel1", "x86", "", "b@hel1 a@hel1", "the cheapest where the cluster has servers", ""},
	{"no price", "a x86 40 hel1=", "a", "hel1", "x86", "", "a@hel1", "prices are not known: one where the cluster has servers", ""},
	{"deprecated", "old x86 40 ~hel1=1\nnew x86 40 hel1=2", "new", "hel1", "x86", "", "new@hel1 old@hel1", "the cheapest that is not deprecated where the cluster has servers", ""},
	{"everything is deprecated", "old x86 40 ~hel1=1\nolder x86 40 ~hel1=0.5", "old", "hel1", "x86", "", "older@hel1 old@hel1", "the cheapest where the cluster has servers", "older is sold in hel1 until 2026-12-01 only"},
	{"nothing is sold any more", "old x86 40 -hel1=1\nolder x86 40 -hel1=0.5", "old", "hel1", "x86", "", "", "", "Hetzner sells no server type with the architecture x86"},
	{"no arm", "a x86 40 hel1=1", "a", "hel1", "arm", "", "", "", "Hetzner sells no server type with the architecture arm"},
	{"no catalogue", "a x86 40", "a", "hel1", "x86", "", "", "", "Hetzner sells no server type with the architecture x86"},
	{"all disks here are too large", "s x86 40 nbg1=1\nl x86 160 hel1=1", "s l", "hel1", "x86", "l@hel1", "s@nbg1", "the cheapest in the network zone; none is available in hel1", "l has a disk of 160 GB, and no server with 40 GB could start from its image"},
	{"the smallest disk is no longer sold", "s x86 40 -hel1=1\nm x86 80 hel1=2\nl x86 160 hel1=1", "s m", "hel1", "x86", "", "m@hel1", "the cheapest where the cluster has servers", ""},
	{"as asked for", today, "cpx22", "hel1", "x86", "cpx22@nbg1", "cpx22@nbg1 cx23@hel1 cpx12@hel1", "as asked for", ""},
	{"as asked for, though it is sold out", "a x86 40 !hel1=1\nb x86 40 hel1=2", "a", "hel1", "x86", "a@hel1", "a@hel1 b@hel1", "as asked for", ""},
	{"as asked for, though it is deprecated", "a x86 40 ~hel1=1\nb x86 40 hel1=2", "a", "hel1", "x86", "a@hel1", "a@hel1 b@hel1", "as asked for", "a is sold in hel1 until 2026-12-01 only"},
	{"only the type is asked for", today, "cpx22", "hel1", "x86", "cpx12@", "cpx12@hel1 cpx12@fsn1 cpx12@nbg1", "as asked for", ""},
	{"only the location is asked for", today, "cpx22", "hel1", "x86", "@ash", "cpx11@ash cx23@hel1 cpx12@hel1", "as asked for", ""},
	{"an older tree", today, "cpx22", "hel1", "x86", "cpx11@ash", "cpx11@ash cx23@hel1 cpx12@hel1", "as asked for", ""},
	{"not sold there any more", today, "cpx22", "hel1", "x86", "cpx11@hel1", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", "cpx11 is not sold in hel1"},
	{"not sold anywhere any more", today, "cpx22", "hel1", "x86", "cx22@hel1", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", "cx22 is no longer sold"},
	{"there is no such type", today, "cpx22", "hel1", "x86", "cpx99@hel1", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", "Hetzner has no server type cpx99 to make images with"},
	{"there is no such location", today, "cpx22", "hel1", "x86", "@mars1", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", "the location mars1 has no server type for x86 that an image can be made with"},
	{"another architecture is asked for", today, "cpx22", "hel1", "x86", "cax11@hel1", "cx23@hel1 cpx12@hel1 cpx22@hel1", "the cheapest where the cluster has servers", "the type cax11 is arm, the image is for x86"},
	{"too large a disk is asked for", today, "cx23", "hel1", "x86", "cpx22@hel1", "cx23@hel1 cpx12@hel1 cx23@fsn1", "the cheapest where the cluster has servers", "cpx22 has a disk of 80 GB, and no server with 40 GB could start from its image"},
	{"no servers", today, "", "", "x86", "", "cx23@fsn1 cx23@hel1 cx23@nbg1", "the cheapest", ""},
}

func TestChooseBuilder(t *testing.T) {
	for _, tt := range builderCases {
		t.Run(tt.name, func(t *testing.T) {
			infra := schemas.Infrastructure{}
			if tt.types != "" {
				infra.Servers = []schemas.InfraServer{{Types: strings.Fields(tt.types), Locations: strings.Fields(tt.locations),
					Image: schemas.InfraImage{Selector: "s", Architecture: tt.arch}}}
			}
			want := schemas.InfraSnapshot{Architecture: tt.arch, Selector: "s"}
			want.BuilderType, want.BuilderLocation, _ = strings.Cut(tt.asked, "@")
			choice := ChooseBuilder(shop(tt.catalogue), infra, want, builderNow)
			var got []string
			for _, c := range choice.Candidates {
				got = append(got, c.Type+"@"+c.Location)
			}
			if text := strings.Join(got[:min(3, len(got))], " "); text != tt.want || len(got) > mostBuilders {
				t.Errorf("candidates %s, want %s", text, tt.want)
			}
			if choice.Reason != tt.reason || choice.Problem != tt.problem {
				t.Errorf("reason %q\nwant   %q\nproblem %q\nwant    %q", choice.Reason, tt.reason, choice.Problem, tt.problem)
			}
		})
	}
}

// A cluster without servers of its own in a location is near by its network and
// its autoscaled pools; an image for other servers does not bound the disk.
func TestChooseBuilderNear(t *testing.T) {
	want := schemas.InfraSnapshot{Architecture: "x86", Selector: "s"}
	other := schemas.InfraImage{Selector: "another", Architecture: "x86"}
	for expected, infra := range map[string]schemas.Infrastructure{
		"cpx11@ash": {Network: &schemas.InfraNetwork{Subnets: []schemas.InfraSubnet{{NetworkZone: "us-east"}}}},
		"cpx11@hil": {AutoscalerPools: []schemas.InfraAutoscalerPool{{Type: "cpx11", Location: "hil", Image: other}}},
		"cx23@nbg1": {Servers: []schemas.InfraServer{{Types: []string{"tiny"}, Locations: []string{"nbg1"}, Image: other}}},
	} {
		choice := ChooseBuilder(shop(today+"\ntiny x86 10 -nbg1=1"), infra, want, builderNow)
		if first := choice.Candidates[0]; first.Type+"@"+first.Location != expected {
			t.Errorf("%s in %s (%s), want %s", first.Type, first.Location, choice.Reason, expected)
		}
	}
}
