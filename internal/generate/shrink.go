package generate

// Shrink leaves out of a case that fails whatever it fails without, and returns
// what must be left out. A group of features goes at once where it can. It tries
// at most so often: each try may be a whole life.
func Shrink(o Options, tries int, fails func(Repository) bool) Options {
	without := map[string]bool{}
	for name := range o.Without {
		without[name] = true
	}
	smaller := func(names []string) bool {
		if tries--; tries < 0 {
			return false
		}
		next := Options{Seed: o.Seed, ExampleKey: o.ExampleKey, Without: map[string]bool{}}
		for name := range without {
			next.Without[name] = true
		}
		for _, name := range names {
			next.Without[name] = true
		}
		if !fails(New(next)) {
			return false
		}
		without = next.Without
		return true
	}
	current := func() []string {
		return New(Options{Seed: o.Seed, ExampleKey: o.ExampleKey, Without: without}).Features
	}
	for size := len(current()); size > 0 && tries > 0; {
		gone := false
		features := current()
		for at := 0; at < len(features); at += size {
			gone = smaller(features[at:min(at+size, len(features))]) || gone
		}
		if !gone || size > len(features) {
			size /= 2
		}
	}
	return Options{Seed: o.Seed, ExampleKey: o.ExampleKey, Without: without}
}
