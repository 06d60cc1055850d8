package plan

// Key names a step within a plan: what it is about. Of infrastructure it is the
// kind and the name of an object (server/prod-worker-1), of nodes the action and
// the node, of Kubernetes the object.
type Key string

// Note is a sentence about an object, with what to do about it: a refusal, a
// warning, or what is left as it is.
type Note struct {
	Key  Key    `json:"key,omitempty"` // empty if it is about the whole
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// Digest stands for the state of an object when the plan was made.
type Digest struct {
	Key    Key    `json:"key"`
	ID     int64  `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"` // empty: it was not there
}
