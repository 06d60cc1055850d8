package rtnetlink

// JoinGroup subscribes to a multicast group, as the released package only lets
// one do before dialling. Every connection but those of the package's own tests
// can.
func (c *Conn) JoinGroup(group uint32) error {
	return c.c.(interface{ JoinGroup(group uint32) error }).JoinGroup(group)
}
