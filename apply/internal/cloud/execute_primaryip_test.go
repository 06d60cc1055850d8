package cloud

import (
	"cmp"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// TestKept: a server is made with the address that it had, and never with one that only has
// the name of it.
func TestKept(t *testing.T) {
	const server, name = "dev-worker-1", "dev-worker-1-ipv4"
	own := map[string]string{schemas.LabelCluster: "dev", schemas.LabelManagedBy: schemas.ManagedBy}
	adopted := []cloudplan.Change{{Key: cloudplan.KeyOf(cloudplan.KindPrimaryIP, name)}}
	for what, c := range map[string]struct {
		labels  map[string]string
		have    cloudplan.PrimaryIP
		changes []cloudplan.Change
		want    bool
	}{
		"it is the cluster's":            {own, cloudplan.PrimaryIP{}, nil, true},
		"it belongs to the old server":   {own, cloudplan.PrimaryIP{Assignee: 4}, nil, true},
		"it goes with the old server":    {own, cloudplan.PrimaryIP{Assignee: 4, AutoDelete: true}, nil, false},
		"another server has it":          {own, cloudplan.PrimaryIP{Assignee: 5}, nil, false},
		"it is elsewhere":                {own, cloudplan.PrimaryIP{Location: "fsn1"}, nil, false},
		"it has no labels":               {nil, cloudplan.PrimaryIP{}, nil, false},
		"it is another cluster's":        {map[string]string{schemas.LabelCluster: "prod", schemas.LabelManagedBy: schemas.ManagedBy}, cloudplan.PrimaryIP{}, nil, false},
		"somebody else made it for ours": {map[string]string{schemas.LabelCluster: "dev"}, cloudplan.PrimaryIP{}, nil, false},
		"it is adopted":                  {nil, cloudplan.PrimaryIP{}, adopted, true},
	} {
		c.have.ID, c.have.Name, c.have.Type, c.have.Labels = 7, name, "ipv4", c.labels
		c.have.Location = cmp.Or(c.have.Location, "hel1")
		p := &cloudplan.Plan{
			Cluster: "dev", Changes: c.changes, Observed: cloudplan.Observed{PrimaryIPs: []cloudplan.PrimaryIP{c.have}},
			Desired: schemas.Infrastructure{Servers: []schemas.InfraServer{{Name: server, KeepPrimaryIPs: true}}},
		}
		s := serverStep{&step{Executor: &Executor{plan: p}, Change: cloudplan.Change{Name: server, ID: 4}}}
		if got := s.kept(hcloud.PrimaryIPTypeIPv4, "hel1"); (got != nil) != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
