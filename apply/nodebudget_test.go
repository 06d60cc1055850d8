package apply

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

const (
	// nodeMinuteBudget is how many calls a run makes of one node in a minute in the
	// worst case.
	nodeMinuteBudget = 240
	// nodeRunBudget is the same in a whole run.
	nodeRunBudget = 700
	// nodeLongestRun is how long a run takes at most that never gets on.
	nodeLongestRun = time.Hour
)

// nodeWorstCases are what nodes can do for as long as a run.
var nodeWorstCases = []struct {
	name  string
	fault talossim.Fault
}{
	{"nothing", talossim.Fault{Method: "no call"}},
	{"no answer", talossim.Fault{As: talossim.Drop()}},
	{"no answer in time", talossim.Fault{As: talossim.Hang()}},
	{"always unavailable", talossim.Fault{As: talossim.Status(codes.Unavailable, "not now")}},
	{"always an error", talossim.Fault{As: talossim.Status(codes.Internal, "broken")}},
	{"configurations refused", talossim.Fault{Method: "ApplyConfiguration", As: talossim.Status(codes.InvalidArgument, "no")}},
	{"configurations lost", talossim.Fault{Method: "ApplyConfiguration", As: talossim.Drop()}},
	{"answers to configurations lost", talossim.Fault{Method: "ApplyConfiguration", As: talossim.Drop(), After: true}},
	{"bootstrap unavailable", talossim.Fault{Method: "Bootstrap", As: talossim.Status(codes.Unavailable, "not now")}},
	{"bootstrap lost", talossim.Fault{Method: "Bootstrap", As: talossim.Drop()}},
	{"answers to bootstrap lost", talossim.Fault{Method: "Bootstrap", As: talossim.Drop(), After: true}},
	{"stage unknown", talossim.Fault{As: talossim.SaysStage("unknown")}},
	{"always booting", talossim.Fault{As: talossim.SaysStage("booting")}},
	{"never well", talossim.Fault{As: talossim.SaysUnwell()}},
	{"etcd away", talossim.Fault{Method: "Etcd*", As: talossim.Status(codes.Unavailable, "no etcd")}},
	{"Kubernetes away", talossim.Fault{Method: "* /*", As: talossim.Drop()}},
	{"slow", talossim.Fault{As: talossim.Slow(4 * time.Second)}},
}

// TestNodeRequestBudget: whatever nodes do for as long as a run, or from the moment that
// the first of them has its configuration, none is asked all the time, and the run ends.
func TestNodeRequestBudget(t *testing.T) {
	for name, begin := range map[string]func(*site, talossim.Fault){
		"from the beginning": func(s *site, fault talossim.Fault) { s.fleet.Inject(fault) },
		"after a first configuration": func(s *site, fault talossim.Fault) {
			s.fleet.Inject(firstConfigured(func() { s.fleet.Inject(fault) }))
		},
		"in the middle of a change": func(s *site, fault talossim.Fault) {
			s.mustApply(Policy{})
			s.more = []string{"  kernel: {modules: [{name: nf_conntrack, parameters: [hashsize=65536]}]}"} // takes a reboot
			s.tree(budgetNodes...)
			s.fleet.Inject(firstConfigured(func() { s.fleet.Inject(fault) }))
		},
	} {
		for _, worst := range nodeWorstCases {
			t.Run(name+"/"+worst.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newSite(t)
					s.tree(budgetNodes...)
					fault := worst.fault
					fault.Times = -1
					begin(s, fault)
					keepsNodeBudget(t, s)
				})
			})
		}
	}
}

var budgetNodes = []string{"cp-1", "cp-2", "cp-3", "worker-1"}

// firstConfigured does something when the first configuration is sent.
func firstConfigured(do func()) talossim.Fault {
	return talossim.Fault{Method: "ApplyConfiguration", As: talossim.Slow(time.Second), Then: do}
}

// keepsNodeBudget runs once, and counts.
func keepsNodeBudget(t *testing.T, s *site) {
	t.Helper()
	s.fleet.ResetCalls()
	begin := s.fleet.Clock().Now()
	err := (&nodeFaults{site: s}).attempt()
	took := s.fleet.Clock().Now().Sub(begin)
	times := map[string][]time.Time{}
	for _, c := range s.fleet.Calls() {
		times[c.Machine] = append(times[c.Machine], c.Time)
	}
	most, minute := 0, 0
	for _, all := range times {
		slices.SortFunc(all, time.Time.Compare)
		most, minute = max(most, len(all)), max(minute, busiest(all, time.Minute))
	}
	t.Logf("%d calls of a node in %s, %d in a minute; %s", most, took.Round(time.Second), minute, said(err))
	if most > nodeRunBudget || minute > nodeMinuteBudget || took > nodeLongestRun {
		t.Errorf("%d calls of a node in %s, %d in a minute", most, took, minute)
	}
}
