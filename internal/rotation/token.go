package rotation

import (
	"io"
	"slices"
)

// The tokens. They are replaced at once, without phases: there is one at a time.
const (
	MachineToken   Kind = "machine-token"
	BootstrapToken Kind = "bootstrap-token"
)

// Tokens are all of them.
func Tokens() []Kind { return []Kind{MachineToken, BootstrapToken} }

// IsToken reports whether it is one of them.
func (k Kind) IsToken() bool { return slices.Contains(Tokens(), k) }

// TokenGate says why a control plane that has another machine token than Git has to wait;
// empty if it has not. A worker shows the token when it asks a control plane for its
// certificate, which it does anew within a day: one that is missed gets none any more.
// workers are those of the cluster; with no Trust one that is not reached.
func TokenGate(has, wants string, workers []Node) string {
	if has == wants {
		return ""
	}
	for _, w := range workers {
		if w.Trust == nil {
			return w.Name + " is not reached, and would get no certificate any more"
		}
	}
	return ""
}

// NewToken makes a token as Talos makes its own: abcdef.0123456789abcdef.
func NewToken(random io.Reader) (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	const fair = 256 - 256%len(letters)
	var text []byte
	b := make([]byte, 1)
	for len(text) < 23 {
		if len(text) == 6 {
			text = append(text, '.')
		}
		if _, err := io.ReadFull(random, b); err != nil {
			return "", err
		}
		if int(b[0]) < fair {
			text = append(text, letters[int(b[0])%len(letters)])
		}
	}
	return string(text), nil
}
