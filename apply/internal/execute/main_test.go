package execute_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie: there are thousands of projects, each of them small and
// gone after a moment.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
