package talossim

import (
	"crypto/sha256"
	"fmt"

	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// dbSize is the size of every database.
const dbSize = 64 << 10

// snapshot is a database with a digest at its end, as etcd writes it. It is only
// a name: the fleet keeps what belongs to it.
func (f *Fleet) snapshot(c *etcdCluster) []byte {
	db := make([]byte, dbSize, dbSize+sha256.Size)
	f.given++
	copy(db, fmt.Sprintf("simulated etcd %s %s, snapshot %d", c.name(), c.identity, f.given))
	sum := sha256.Sum256(db)
	f.snapshots[sum] = c.kube.Restore()
	return append(db, sum[:]...)
}

// recovered is what a snapshot holds; nil if it is not whole.
func (f *Fleet) recovered(data []byte) *kubesim.API {
	if len(data) != dbSize+sha256.Size {
		return nil
	}
	sum := sha256.Sum256(data[:dbSize])
	kept := f.snapshots[sum]
	if string(sum[:]) != string(data[dbSize:]) || kept == nil {
		return nil
	}
	return kept.Restore()
}
