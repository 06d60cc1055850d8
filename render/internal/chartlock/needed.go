package chartlock

import "slices"

// Needed is where the addons of all environments come from.
type Needed struct {
	// From elsewhere, each once, in the order of their names.
	References []Reference
	// Files and directories of the repository; those of addons that are turned off
	// for a while count.
	Paths []string
}

// Unneeded are the entries that none of the references stands for.
func (l *Lock) Unneeded(needed []Reference) []Entry {
	return slices.DeleteFunc(slices.Clone(l.Entries), func(e Entry) bool {
		return slices.ContainsFunc(needed, e.same)
	})
}

// FileNames are the names in charts/ of what the lock pins, and of the needed
// references that are pinned where they are declared.
func (l *Lock) FileNames(needed []Reference) map[string]bool {
	names := map[string]bool{}
	for _, e := range l.Entries {
		names[e.FileName()] = true
	}
	for _, r := range needed {
		if r.URL != "" && r.SHA256 != "" {
			names[Entry{Reference: r, Digest: r.SHA256}.FileName()] = true
		}
	}
	return names
}
