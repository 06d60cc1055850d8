package upgrade

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/versions/kubeflags"
)

// ofKubernetes reports whether the run is about Kubernetes as well.
func (u *Upgrade) ofKubernetes() bool {
	return u.Programs != nil && u.Policy.Component != upgradeplan.OnlyTalos
}

// staticPods are the programs that kubelets run, by node and program.
func (u observer) staticPods(ctx context.Context) (map[string]map[string]kube.StaticPod, error) {
	if !u.ofKubernetes() {
		return nil, nil
	}
	all, err := u.Programs.StaticPods(ctx)
	pods := map[string]map[string]kube.StaticPod{}
	for _, p := range all {
		if pods[p.Node] == nil {
			pods[p.Node] = map[string]kube.StaticPod{}
		}
		pods[p.Node][p.Program] = p
	}
	return pods, err
}

// askPrograms is what the configuration of the node says of the programs of Kubernetes,
// and what runs of them.
func (u observer) askPrograms(ctx context.Context, n *upgradeplan.Node, c *node.Client, w upgradeplan.Want, pods map[string]kube.StaticPod) error {
	if !u.ofKubernetes() {
		return nil
	}
	has, err := u.reading(ctx, n, c, w)
	if err != nil {
		return err
	}
	n.Contract, n.Moves, n.Unmovable, n.Sets = has.contract, has.moves, has.unmovable, has.sets
	if n.Role != upgradeplan.ControlPlane {
		return nil
	}
	n.Programs = map[string]upgradeplan.Program{}
	images := has.config.Images()
	for _, name := range []string{upgradeplan.APIServer, upgradeplan.ControllerManager, upgradeplan.Scheduler} {
		p := program(images[name], pods[name])
		p.Missing = p.Running == "" && !has.config.Disabled(name)
		n.Programs[name] = p
	}
	if image := images[upgradeplan.Proxy]; image != "" {
		n.Programs[upgradeplan.Proxy] = upgradeplan.Program{Configured: nodeconfig.ImageVersion(image)}
	}
	u.askServer(ctx, n)
	return nil
}

// reading is a configuration that a node has, and what it says.
type reading struct {
	text             secret.String
	config           *nodeconfig.Config
	contract         string
	moves, unmovable []string
	sets             []kubeflags.Set
}

// reading asks for the configuration of a node, and reads it if it is another one than
// before: a run looks at each node a hundred times.
func (u observer) reading(ctx context.Context, n *upgradeplan.Node, c *node.Client, w upgradeplan.Want) (*reading, error) {
	text, err := c.Config(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	known := u.readings[n.Name]
	u.mu.Unlock()
	if known != nil && known.text.Reveal() == text.Reveal() {
		return known, nil
	}
	config, err := parse(c, text)
	if err != nil {
		return nil, err
	}
	has := &reading{text: text, config: config, contract: config.Contract(), sets: config.Sets()}
	if err := u.compareContract(has, n, w); err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readings == nil {
		u.readings = map[string]*reading{}
	}
	u.readings[n.Name] = has
	return has, nil
}

// program compares what is configured with what runs. Without an image in the
// configuration Talos takes its own, which is what runs.
func program(configured string, runs kube.StaticPod) upgradeplan.Program {
	p := upgradeplan.Program{Running: nodeconfig.ImageVersion(runs.Image), Ready: runs.Ready}
	p.Configured = cmp.Or(nodeconfig.ImageVersion(configured), p.Running)
	return p
}

// askServer asks the API server of the node itself: that its kubelet calls it ready says
// little of whether it serves. One that does not is not ready, whatever the reason.
func (u observer) askServer(ctx context.Context, n *upgradeplan.Node) {
	server := n.Programs[upgradeplan.APIServer]
	if !server.Ready {
		return
	}
	version, err := u.Programs.Serves(ctx, n.Name)
	server.Ready = err == nil && upgradeplan.Same(version, server.Running)
	n.Programs[upgradeplan.APIServer] = server
}

// errUnreadable is a configuration that a node has, and nobody understands.
var errUnreadable = errors.New("the configuration of a node cannot be read")

// active is the configuration that a node has. An error quotes nothing of it.
func active(ctx context.Context, c *node.Client) (*nodeconfig.Config, error) {
	text, err := c.Config(ctx)
	if err != nil {
		return nil, err
	}
	return parse(c, text)
}

func parse(c *node.Client, text secret.String) (*nodeconfig.Config, error) {
	config, err := nodeconfig.Parse("node "+c.Target().Name, []byte(text.Reveal()))
	if err != nil {
		return nil, diag.On("node "+c.Target().Name, "its configuration cannot be read").WithHint("see talosgen plan").WithCause(errors.Join(errUnreadable, err))
	}
	return config, nil
}

// pulledAt are the images of programs that this run has pulled to a node. They prove that
// the node can get them: the kubelet removes what it does not run.
func (u *Upgrade) pulledAt(name string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.pulled[name])
}

// notePulled notes one more.
func (u *Upgrade) notePulled(name, image string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pulled == nil {
		u.pulled = map[string][]string{}
	}
	u.pulled[name] = append(u.pulled[name], image)
}
