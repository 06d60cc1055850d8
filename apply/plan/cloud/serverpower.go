package cloud

import "github.com/talosgen/talosgen/schemas"

// power wants a server to run, and no note that a run has switched it off.
func (d *changeBuilder) power(have *Server) {
	note := have.Labels[schemas.LabelOff]
	switch off := have.Status == statusOff || have.Status == statusStopping; {
	case off && note != "":
		d.field(Field{Name: FieldPower, from: "off", to: "on", Class: InPlace, Reason: "a run switched it off to change it, and ended before it was on again"})
	case off:
		d.field(Field{Name: FieldPower, from: "off", to: "on", Class: InPlace, Reason: "the server is " + have.Status})
	case note != "":
		d.field(Field{Name: FieldLabels, Item: schemas.LabelOff, from: note, Class: InPlace, Reason: "it is on again"})
	}
}

// LeftOff reports whether a run has switched a server off, and it is off still.
func LeftOff(s Server) bool {
	return s.Labels[schemas.LabelOff] != "" && (s.Status == statusOff || s.Status == statusStopping)
}
