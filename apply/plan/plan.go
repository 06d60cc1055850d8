package plan

// Key names a step within a plan: what it is about. Of infrastructure it is the
// kind and the name of an object (server/prod-worker-1), of nodes the action and
// the node, of Kubernetes the object.
type Key string
