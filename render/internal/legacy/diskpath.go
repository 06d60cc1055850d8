package legacy

import (
	"strconv"
	"strings"
)

// DiskPath is the CEL expression for the disk with a path. Talos finds a symbolic
// link, as in /dev/disk/by-id, among the links of a disk, and never as its path.
func DiskPath(path string) string {
	if strings.HasPrefix(path, "/dev/disk/") {
		return strconv.Quote(path) + " in disk.symlinks"
	}
	return "disk.dev_path == " + strconv.Quote(path)
}
