package apply

import (
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	good := Source{Repository: true, Commit: "abc1234", Branch: "main", Upstream: "origin/main", Pushed: true}
	for name, tt := range map[string]struct {
		change func(*Source)
		want   string
	}{
		"as it should be":                 {func(*Source) {}, ""},
		"no branch, but what is upstream": {func(s *Source) { s.Branch = "" }, ""},
		"no repository":                   {func(s *Source) { s.Repository = false }, "rendered/demo: is in no Git repository\n  apply makes what was committed and pushed"},
		"changed": {func(s *Source) { s.Changed = []string{"rendered/demo/a", "rendered/demo/b"} },
			"rendered/demo: is not committed: rendered/demo/a, rendered/demo/b\n  commit it; --allow-dirty applies it nevertheless"},
		"much changed": {func(s *Source) { s.Changed = []string{"1", "2", "3", "4", "5", "6", "7"} }, "is not committed: 1, 2, 3, 4, 5, …\n"},
		"no commit":    {func(s *Source) { s.Commit = ""; s.Changed = []string{"x"} }, "is not committed: x"},
		"no upstream":  {func(s *Source) { s.Upstream = "" }, "commit abc1234 is on no branch that is pushed anywhere"},
		"a folder of a larger repository": {func(s *Source) {
			s.Follows, s.Place, s.FollowedPath = "main", "infra/rendered/demo", "infra/rendered/demo"
		}, ""},
		"looked for at the top": {func(s *Source) {
			s.Follows, s.Place, s.FollowedPath = "main", "infra/rendered/demo", "rendered/demo"
		}, "rendered/demo: is infra/rendered/demo in the Git repository, and Flux would look for it at rendered/demo\n  set gitops.path: infra/rendered/demo, and render"},
		"looked for in a folder that is not there": {func(s *Source) {
			s.Follows, s.Engine, s.Place, s.FollowedPath = "main", "Argo CD", "rendered/demo", "infra/rendered/demo"
		}, "and Argo CD would look for it at infra/rendered/demo"},
		"brought elsewhere":  {func(s *Source) { s.Follows, s.Place, s.FollowedPath = "main", "rendered/demo", "clusters/demo" }, ""},
		"nothing follows it": {func(s *Source) { s.Place, s.FollowedPath = "infra/rendered/demo", "rendered/demo" }, ""},
		"not pushed":         {func(s *Source) { s.Pushed = false }, "commit abc1234 is not on origin/main: the tree differs there"},
	} {
		s := good
		tt.change(&s)
		err := s.Check("demo")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}
