package schemas

import (
	"strconv"
	"strings"
)

// HostKeyMarker stands in the user data of a server for its private SSH host
// key, which is a secret: apply puts the key there when it makes the server.
const HostKeyMarker = "${SSH_HOST_KEY}"

// FillHostKey puts a private SSH host key, as PEM, in place of the marker in
// user data: as a text in double quotes, as YAML and JSON have it.
func FillHostKey(userData, key string) string {
	return strings.ReplaceAll(userData, HostKeyMarker, strconv.Quote(key))
}
