package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

func internalLabel(key string) bool { return strings.HasPrefix(key, schemas.LabelPrefix) }

// MergeLabels returns the labels to write to an object: those that are desired,
// and those that apply keeps for itself on it.
func MergeLabels(want, have map[string]string) map[string]string {
	merged := maps.Clone(want)
	if merged == nil {
		merged = map[string]string{}
	}
	for key, value := range have {
		if internalLabel(key) {
			merged[key] = value
		}
	}
	return merged
}

// ServerLabels returns the labels to create a server with: those that are
// desired, a digest of what it is made with, and of a node that it was not
// configured yet.
func ServerLabels(s schemas.InfraServer) map[string]string {
	labels := MergeLabels(s.Labels, nil)
	labels[schemas.LabelUserData] = userDataDigest(s)
	if node(s) {
		labels[schemas.LabelConfigured] = schemas.ConfiguredNo
	}
	return labels
}

// RecordLabels returns the labels of a set of DNS records of a cluster. They
// are not in infrastructure.yaml, but tell whose it is.
func RecordLabels(cluster string) map[string]string {
	return map[string]string{schemas.LabelCluster: cluster, schemas.LabelManagedBy: schemas.ManagedBy}
}

// digestLength keeps digests within the 63 characters of a label.
const digestLength = 16

// userDataDigest identifies what a server is given when it is made.
func userDataDigest(s schemas.InfraServer) string {
	h := sha256.New()
	for _, part := range append([]string{s.UserData, s.HostKey}, slices.Sorted(slices.Values(s.SSHKeys))...) {
		h.Write([]byte(part + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))[:digestLength]
}

// labels compares labels, one field for each key. Labels that apply keeps for
// itself are left alone.
func (d *changeBuilder) labels(have, want map[string]string) {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, want)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		from, there := have[key]
		to, wanted := want[key]
		if internalLabel(key) || there == wanted && from == to {
			continue
		}
		d.field(Field{Name: FieldLabels, Item: key, Edit: editOf(there, wanted), from: from, to: to, Class: InPlace, Reason: labelReason(there, wanted)})
	}
}

func labelReason(there, wanted bool) string {
	switch {
	case !there:
		return "the label is missing"
	case !wanted:
		return "not in Git"
	default:
		return ""
	}
}
