package rotation

// Pod is one that makes servers, from the Secret as it was when the pod began.
type Pod struct{ Name, Mark string }

// Autoscaler is what makes nodes by itself, as far as a rotation is concerned. Its Secret
// is written before its Deployment, and follows the rules of a node; so a pod with a mark
// has read what that says, or something later.
type Autoscaler struct {
	// What a new server of each group would trust, as the Secret says.
	Groups []Node
	Pods   []Pod
	// Servers that are not reached as nodes.
	Servers []Node
}

// Comers are the nodes of which one may come at any time, and what they trust.
func (a Autoscaler) Comers(kind Kind) (all []Node) {
	all = append(all, a.Groups...)
	for _, p := range a.Pods {
		all = append(all, Node{Name: "a server that pod " + p.Name + " makes", Trust: a.began(kind, p), Hint: podHint})
	}
	return append(all, a.Servers...)
}

// podHint is what helps where a pod is behind.
const podHint = "it began with what the autoscaler made servers from before: see why it is not replaced " +
	"(kubectl -n kube-system rollout status deployment/cluster-autoscaler), or apply the phase before again"

// began is what a pod has read at least; nil if that is not known. One without a mark of
// the kind began when none of its rotations was under way in Git. It trusts what signs
// now: the Secret gets no authority that signs while a pod is there that does not trust it,
// and one without a mark is taken for one that trusts no other.
func (a Autoscaler) began(kind Kind, p Pod) *Trust {
	of, t, ok := readMark(p.Mark)
	if ok && of == kind {
		return &t
	}
	if p.Mark != "" && !ok || len(a.Groups) == 0 {
		return nil
	}
	for _, g := range a.Groups {
		if g.Trust == nil || g.Trust.Issues != a.Groups[0].Trust.Issues {
			return nil
		}
	}
	return &Trust{Issues: a.Groups[0].Trust.Issues}
}
