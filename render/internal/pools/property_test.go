package pools

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render/internal/config"
)

const testFile = "envs/dev/cluster.yaml"

// In lines and in brackets, with a network that is too small for everything.
var starts = map[string]string{
	"lines": `# The cluster.
clusterName: dev # its name
hetzner: {region: hel1}

nodes:
  # The control plane.
  controlPlane:
    count: 3 # three
    type: cpx22
    privateIps: {2: 10.0.64.40, 3: 10.0.64.9} # adopted

# The end.
`,
	"brackets": `{clusterName: dev, # its name
  hetzner: {region: hel1},
  nodes: {controlPlane: {count: 3, type: "cpx22"}, # The control plane.
    workers: {nodepools: [
      {name: first, count: 2, type: cpx22, privateIps: {1: 10.0.80.24, "2": 10.0.80.2}}, # The first one.
    ]}}}
`,
	"small": `clusterName: dev
hetzner: {region: hel1}
network:
  nodeSubnetMaskSize: 28 # room for ten nodes
nodes:
  controlPlane: {count: 1, type: cpx22}
  workers:
    nodepools:
    # Without an offset.
    - name: first
      indexes:
      - 1
      - 3 # the third
      type: cpx22

    - {name: second, count: 1, offset: 5, type: cpx22}
# The end.
`,
}

// However pools and nodes come and go, no other node gets another address, no
// two nodes have the same, and what people wrote into the file stays.
func TestAddressesNeverMove(t *testing.T) {
	const steps = 400
	for name, start := range starts {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				w := &walk{T: t, Rand: rand.New(rand.NewPCG(seed, 4)), text: start}
				w.load()
				for range steps {
					w.step()
				}
				t.Logf("%d of %d changes were made; the file is\n%s", w.done, steps, w.text)
				if w.done < steps/2 {
					t.Error("too many were refused")
				}
			})
		}
	}
}

// walk is a file that random changes are made of.
type walk struct {
	*testing.T
	*rand.Rand
	text    string
	config  *config.Config
	made    int // pools, for names
	done    int // changes that were not refused
	history []string
}

func (w *walk) source() Source { return Source{File: testFile, Text: []byte(w.text)} }

func (w *walk) step() {
	before := w.config
	pools := before.Pools()
	p := pools[w.IntN(len(pools))]
	result, gone, nodes, err := w.change(before, p)
	if err != nil {
		w.checkRefusal(err) // there is no room, or the pool is none of that kind
		return
	}
	w.done++
	old := w.text
	w.text, w.config = string(result.Text), result.Config
	w.checkAddresses(before, w.config)
	w.checkGone(before, nodes)
	w.checkComments(old, gone)
	if w.comment() {
		w.load()
	}
}

// checkRefusal makes sure that no change fails for what it is about.
func (w *walk) checkRefusal(err error) {
	for _, never := range []string{"overlap", "would move", "cannot be edited", "not valid YAML"} {
		if strings.Contains(err.Error(), never) {
			w.fail("%v", err)
		}
	}
}

// change makes a random change, and tells which pool is to be gone, and which
// nodes.
func (w *walk) change(before *config.Config, p config.Pool) (result *Result, gone string, nodes []string, err error) {
	verb, n := w.IntN(10), w.IntN(9)
	w.history = append(w.history, fmt.Sprintf("%d %s %d", verb, p.Name, n))
	switch {
	case verb < 2:
		w.made++
		added := New{Name: fmt.Sprintf("pool-%d", w.made), Type: "cpx22", Count: n, Max: n, Spread: true, Autoscaled: verb == 0 && n%3 == 0}
		if n%4 == 0 {
			added.Labels = map[string]string{"example.com/n": "true"}
		}
		result, err = Add(w.source(), added)
	case verb < 3:
		result, err = Remove(w.source(), p.Name)
		gone, nodes = p.Name, poolNodes(before, p.Name)
	case verb < 4:
		result, err = Place(w.source(), nil)
	case verb < 7 && p.Autoscaled:
		result, err = ScaleLimits(w.source(), p.Name, nil, &n)
	case verb < 7:
		if result, err = Scale(w.source(), p.Name, n); err == nil {
			w.checkCount(result, p.Name, n)
		}
		if nodes = poolNodes(before, p.Name); n < len(nodes) {
			nodes = nodes[n:] // the highest go first
		} else {
			nodes = nil
		}
	default:
		all := poolNodes(before, p.Name)
		if len(all) == 0 {
			return nil, "", nil, fmt.Errorf("no nodes")
		}
		nodes = []string{all[n%len(all)], all[0]}
		result, err = RemoveNodes(w.source(), p.Name, nodes)
	}
	return result, gone, nodes, err
}

func poolNodes(c *config.Config, pool string) (names []string) {
	for _, n := range c.Resolve() {
		if n.Pool == pool {
			names = append(names, n.Name)
		}
	}
	return names
}

func (w *walk) checkCount(result *Result, pool string, n int) {
	if got := len(poolNodes(result.Config, pool)); got != n {
		w.fail("%s has %d nodes, not %d", pool, got, n)
	}
}

func (w *walk) load() {
	var err error
	if w.config, err = config.Load(testFile, config.Files{testFile: []byte(w.text)}, nil); err != nil {
		w.fail("the file does not load: %v", err)
	}
}

func (w *walk) fail(format string, args ...any) {
	w.Helper()
	w.Fatalf("%s\nafter %s:\n%s", fmt.Sprintf(format, args...), strings.Join(w.history[max(len(w.history)-3, 0):], ", "), w.text)
}

func (w *walk) checkAddresses(before, after *config.Config) {
	was, is := addresses(before), addresses(after)
	owners := map[netip.Addr]string{}
	for _, node := range slices.Sorted(maps.Keys(is)) {
		at := is[node]
		if old, stays := was[node]; stays && old != at {
			w.fail("%s moved from %s to %s", node, old, at)
		}
		if other := owners[at]; other != "" || !at.IsValid() {
			w.fail("%s and %s both have %s", node, other, at)
		}
		owners[at] = node
	}
}

// checkGone makes sure that the nodes that were to go are gone, and no others.
func (w *walk) checkGone(before *config.Config, gone []string) {
	is := addresses(w.config)
	for _, n := range before.Resolve() {
		if _, stays := is[n.Name]; stays == slices.Contains(gone, n.Name) {
			w.fail("%s stays: %t; to go were %q", n.Name, stays, gone)
		}
	}
}

func addresses(c *config.Config) map[string]netip.Addr {
	all := map[string]netip.Addr{}
	for _, n := range c.Resolve() {
		all[n.Name] = n.PrivateIP
	}
	return all
}

// comment writes comments about the newest pool, once.
func (w *walk) comment() bool {
	name := fmt.Sprintf("pool-%d", w.made)
	line := "- name: " + name + "\n"
	if strings.Contains(w.text, "# above "+name+".") || !strings.Contains(w.text, line) {
		return false
	}
	at := strings.Index(w.text, line)
	start := strings.LastIndex(w.text[:at], "\n") + 1
	indent := w.text[start:at]
	w.text = w.text[:start] + indent + "# above " + name + ".\n" + indent + strings.TrimSuffix(line, "\n") + " # behind " + name + ".\n" +
		indent + "  # inside of " + name + ".\n\n" + w.text[at+len(line):]
	return true
}

// checkComments makes sure that every line with a comment is there still, unless
// it is about the pool that is gone.
func (w *walk) checkComments(old, gone string) {
	for line := range strings.Lines(old) {
		_, comment, found := strings.Cut(line, "# ")
		about := gone != "" && (strings.Contains(comment, " "+gone+".") || strings.Contains(comment, "first") || strings.Contains(comment, "third") || strings.Contains(comment, "Without"))
		if found && !about && !strings.Contains(comment, "third") && !strings.Contains(w.text, "# "+comment) {
			w.fail("the comment %q is gone from\n%s", comment, old)
		}
	}
}
