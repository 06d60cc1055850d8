package cloud

import (
	"fmt"
	"strings"
	"time"
)

// OpenAccess is session access to a cluster as it is at Hetzner.
type OpenAccess struct {
	// The name of its firewall.
	Firewall string `json:"firewall"`
	// Who has opened it: user and machine, as far as a label can have them.
	Owner string `json:"owner"`
	// Whether it stays open after the run that opened it.
	Stays bool `json:"stays"`
	// From where, and to which TCP ports.
	From  []string `json:"from"`
	Ports []string `json:"ports"`
	// When it ends, and whether that is past by Hetzner's clock. The firewall lets
	// in until something removes it.
	Expires time.Time `json:"expires"`
	Expired bool      `json:"expired"`

	// The id of the firewall.
	ID int64 `json:"-"`
}

// String says who is let in from where, and until when.
func (a OpenAccess) String() string {
	by := a.Owner
	if !a.Stays {
		by = "a run of " + a.Owner
	}
	ports := "ports "
	if len(a.Ports) == 1 {
		ports = "port "
	}
	until := "open until " + a.Expires.Format(time.RFC3339)
	if a.Expired {
		until = "still open, though only until " + a.Expires.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s for %s, %s, by %s", ports+strings.Join(a.Ports, ", "), strings.Join(a.From, ", "), until, by)
}
