package node

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// reads are the calls that change nothing on a node. What is not among them is not sent
// by clients that only read: a new call of Talos is refused until somebody has looked
// at what it does.
var reads = map[string]bool{
	"/machine.MachineService/Version":        true,
	"/machine.MachineService/List":           true,
	"/machine.MachineService/Read":           true,
	"/machine.MachineService/ServiceList":    true,
	"/machine.MachineService/EtcdMemberList": true,
	"/machine.MachineService/EtcdStatus":     true,
	"/machine.MachineService/ImageList":      true,
	"/machine.ImageService/List":             true,
	"/cosi.resource.State/Get":               true,
	"/cosi.resource.State/List":              true,
}

// refused is the error of a call that a client which only reads must not make.
func (c *connection) refused(method string) error {
	if !c.readOnly || reads[method] {
		return nil
	}
	return status.Errorf(codes.FailedPrecondition, "%s may change something, and this only reads: nothing was sent", method)
}
