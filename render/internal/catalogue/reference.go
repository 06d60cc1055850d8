package catalogue

// Entry is what people should know of an addon of the catalogue.
type Entry struct {
	Name      string
	About     string // what it is
	DefaultOn string // when a cluster has it without addons.<name>.enabled
	Options   string // those that it heeds, with commas between them
	Version   string // of its image, chart or release; empty if it has none
	Layer     Layer
	Namespace string // empty if its objects are in none, or in several
	BuiltIn   bool   // its objects are talosgen's own: there is nothing to fetch
}

// Entries lists what the catalogue knows, the components of engines included, in
// the order of names.
func Entries() []Entry {
	var all []Entry
	for _, e := range append(entries(), engines()...) {
		all = append(all, Entry{
			Name: e.name, About: e.about, DefaultOn: e.defaultOn, Options: e.options, Version: e.version,
			Layer: e.layer, Namespace: e.namespace, BuiltIn: e.builtIn,
		})
	}
	return all
}
