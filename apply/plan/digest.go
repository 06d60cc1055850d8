package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// Digest stands for the state of an object when the plan was made.
type Digest struct {
	Key    Key    `json:"key"`
	ID     int64  `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"` // empty: it was not there
}

// DigestOf is the SHA-256 of plain data, hexadecimal.
func DigestOf(data any) string {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // plain data cannot fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Changed says which objects are not as they were, of those that were read both
// times.
func Changed(was, is []Digest) (changed []string) {
	for _, before := range was {
		i := slices.IndexFunc(is, func(d Digest) bool { return d.Key == before.Key })
		switch {
		case i < 0 || is[i].Digest == before.Digest:
		case before.Digest == "":
			changed = append(changed, fmt.Sprintf("%s is there now", before.Key))
		case is[i].Digest == "":
			changed = append(changed, fmt.Sprintf("%s is gone", before.Key))
		default:
			changed = append(changed, fmt.Sprintf("%s has changed", before.Key))
		}
	}
	return changed
}

// All completes two readings of all objects that there are: what is not in one of
// them was not there.
func All(was, is []Digest) (all, allNow []Digest) { return with(was, is), with(is, was) }

func with(some, others []Digest) []Digest {
	some = slices.Clip(some)
	for _, o := range others {
		if !slices.ContainsFunc(some, func(d Digest) bool { return d.Key == o.Key }) {
			some = append(some, Digest{Key: o.Key})
		}
	}
	return some
}
