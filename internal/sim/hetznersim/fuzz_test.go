package hetznersim

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// FuzzBodies: whatever is sent to whatever operation, it is answered, and what
// is refused has an error code.
func FuzzBodies(f *testing.F) {
	for i, text := range calls {
		_, rest, _ := strings.Cut(text, " ")
		_, body, _ := strings.Cut(rest, " ")
		f.Add(uint(i), body)
	}
	f.Add(uint(0), `{"name": null, "labels": null, "networks": [null], "type": "server", "server": null}`)
	f.Add(uint(0), `{"rules": [{}], "apply_to": [{"type": "server"}], "remove_from": [{"type": "label_selector"}], "records": [{}]}`)
	f.Add(uint(0), `{"type": "ip", "ip": null, "network": 0, "services": [{}], "targets": [{}], "listen_port": 0}`)
	f.Add(uint(0), `[]`)
	all := routes()
	w := &walker{New(Options{RateLimit: -1}), rand.New(rand.NewPCG(3, 1))}
	for range 150 {
		w.step()
	}
	saved := w.sim.Snapshot()
	f.Fuzz(func(t *testing.T, at uint, body string) {
		w := &walker{New(Options{RateLimit: -1}), rand.New(rand.NewPCG(uint64(at), 1))}
		w.sim.Restore(saved)
		for i := range all {
			r := all[(int(at%uint(len(all)))+i)%len(all)]
			if r.method == "GET" {
				continue
			}
			segments := strings.Split(r.path, "/")
			for j, s := range segments {
				switch s {
				case "{id}", "{id_or_name}":
					segments[j] = strconv.FormatInt(w.some(segments[1]), 10)
				case "{rr_name}":
					segments[j] = "@"
				case "{rr_type}":
					segments[j] = "NS"
				}
			}
			status, answer := w.call(r.method, strings.Join(segments, "/"), body)
			problem, _ := answer["error"].(map[string]any)
			if status >= 500 || status >= 400 && problem["code"] == nil {
				t.Errorf("%s %s %s: %d %v", r.method, strings.Join(segments, "/"), body, status, answer)
			}
			if err := w.sim.state.consistent(); err != nil {
				t.Errorf("%s %s: %v", r.method, body, err)
			}
		}
	})
}
