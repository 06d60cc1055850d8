package yamledit

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// splice is a piece of text that takes the place of another.
type splice struct {
	from, to int
	text     string
}

// splicer writes into a text; no splices mean that nobody knows how.
type splicer struct{ extents }

// Set gives a key of the mapping at a path a value. A key that is there keeps
// its place, and the comment behind it. A new one comes behind the first of the
// keys in after that the mapping has, else behind all others.
func (f *File) Set(path []string, key string, value *yaml.Node, after ...string) (*File, error) {
	return f.replace(path, key, key, value, after)
}

// Rename gives a key of the mapping at a path another name and value.
func (f *File) Rename(path []string, old, key string, value *yaml.Node) (*File, error) {
	return f.replace(path, old, key, value, nil)
}

func (f *File) replace(path []string, old, key string, value *yaml.Node, after []string) (*File, error) {
	m, err := f.find(path)
	switch {
	case err != nil:
		return nil, err
	case m == nil || m.Kind != yaml.MappingNode:
		return nil, f.refuse(m, "there is no mapping at %v", path)
	}
	styled := like(With(Map(), key, value), m)
	name, value := styled.Content[0], styled.Content[1]
	want := clone(f.root)
	into := at(want, path)
	i := keyIndex(m, old)
	if i < 0 {
		place := len(m.Content)
		for _, name := range slices.Backward(after) {
			if k := keyIndex(m, name); k >= 0 {
				place = k + 2
			}
		}
		into.Content = slices.Insert(into.Content, place, name, clone(value))
		return f.apply(m, want, f.insertEntry(m, place, name, value))
	}
	if err := f.checkAlias(m.Content[i+1]); err != nil {
		return nil, err
	}
	into.Content[i], into.Content[i+1] = name, clone(value)
	splices := f.replaceValue(m, i, value)
	if key != old {
		k := m.Content[i]
		splices = append([]splice{{f.offset(k), f.end(k, 0), scalar(name)}}, splices...)
	}
	return f.apply(m, want, splices)
}

// Insert puts an item into the list at a path, in front of the item at an
// index.
func (f *File) Insert(path []string, index int, value *yaml.Node) (*File, error) {
	list, err := f.list(path)
	if err != nil {
		return nil, err
	}
	if len(list.Content) > 0 {
		value = like(value, list.Content[0])
	}
	want := clone(f.root)
	into := at(want, path)
	into.Content = slices.Insert(into.Content, index, clone(value))
	switch {
	case len(list.Content) == 0:
		return f.apply(list, want, f.fillList(path, list, value))
	case isFlow(list):
		return f.apply(list, want, f.insertFlowItem(list, index, value))
	default:
		return f.apply(list, want, f.insertBlockItem(list, index, value))
	}
}

// Remove takes the item at an index out of the list at a path, with the
// comments that stand directly above it and those inside of it.
func (f *File) Remove(path []string, index int) (*File, error) {
	list, err := f.list(path)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(list.Content) {
		return nil, f.refuse(list, "there is no item %d", index)
	}
	if used := f.usedIn(list.Content[index]); used != nil {
		return nil, f.refuse(used, "&%s is used elsewhere, which would miss it", used.Anchor)
	}
	want := clone(f.root)
	into := at(want, path)
	into.Content = slices.Delete(into.Content, index, index+1)
	if isFlow(list) {
		return f.apply(list, want, f.removeFlowItem(list, index))
	}
	return f.apply(list, want, f.removeBlockItem(path, list, index))
}

// list returns the list at a path.
func (f *File) list(path []string) (*yaml.Node, error) {
	list, err := f.find(path)
	if err == nil && (list == nil || list.Kind != yaml.SequenceNode) {
		err = f.refuse(list, "there is no list at %v", path)
	}
	return list, err
}

// usedIn returns a node in n with an anchor that is used.
func (f *File) usedIn(n *yaml.Node) *yaml.Node {
	if f.used[n] {
		return n
	}
	for _, c := range n.Content {
		if used := f.usedIn(c); used != nil {
			return used
		}
	}
	return nil
}

// apply splices the text, and makes sure that it says what it is to say. No
// splices means that nobody knows how.
func (f *File) apply(near, want *yaml.Node, splices []splice) (*File, error) {
	unable := f.refuse(near, "this is written in a way that cannot be edited with its layout kept")
	if len(splices) == 0 {
		return nil, unable
	}
	var text []byte
	last := 0
	for _, s := range splices {
		if s.from < last || s.to < s.from || s.to > len(f.text) {
			return nil, unable
		}
		text = append(append(text, f.text[last:s.from]...), s.text...)
		last = s.to
	}
	text = append(text, f.text[last:]...)
	edited, err := Parse(f.name, text)
	if err != nil || !equal(edited.root, want) {
		return nil, unable
	}
	return edited, nil
}
