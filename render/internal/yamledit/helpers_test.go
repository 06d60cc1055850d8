package yamledit

import (
	"os"

	"github.com/rogpeppe/go-internal/txtar"
)

func writeArchive(name string, archive *txtar.Archive) error {
	return os.WriteFile(name, txtar.Format(archive), 0o644)
}
