package catalogue

import "cmp"

// charted is an entry whose objects come from a chart: where that is, and the values
// that it needs here, which may be nil. A cluster has it only if it is enabled, unless
// the entry says otherwise.
func charted(e entry, repository, chart string, values func(f *facts, a *Addon) fields) entry {
	e.options = cmp.Or(e.options, "addons."+e.name+".enabled")
	e.defaultOn = cmp.Or(e.defaultOn, "only if it is enabled")
	e.build = func(f *facts, a *Addon) {
		a.Keep = e.keep
		a.Source = &Source{Chart: &Chart{Repository: repository, Name: chart, Version: f.version(e)}}
		if values != nil {
			a.Values = plain(values(f, a)).(fields)
		}
	}
	return e
}

// after lets an addon come up after another one, if the cluster has that, and tells
// whether it has.
func (f *facts) after(a *Addon, other entry) bool {
	on, _ := f.enabled(other)
	if on {
		a.DependsOn = append(a.DependsOn, other.name)
	}
	return on
}

// serviceMonitor is the value of charts that tells Prometheus about an addon, where
// something reads it.
func (f *facts) serviceMonitor(a *Addon) fields {
	return fields{"enabled": f.after(a, prometheusCRDs())}
}
