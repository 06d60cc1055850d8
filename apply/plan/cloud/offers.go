package cloud

import "slices"

func (c *Catalogue) available(name, location string) bool {
	t := c.typeOf(name)
	return t != nil && t.at(location) != nil && t.at(location).Available
}

func (c *Catalogue) typeOf(name string) *ServerType {
	types := c.ServerTypes
	i := slices.IndexFunc(types, func(t ServerType) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &types[i]
}

func (t *ServerType) at(location string) *TypeLocation {
	i := slices.IndexFunc(t.Locations, func(l TypeLocation) bool { return l.Name == location })
	if i < 0 {
		return nil
	}
	return &t.Locations[i]
}

func (c *Catalogue) location(name string) *Location {
	list := c.Locations
	i := slices.IndexFunc(list, func(l Location) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}
