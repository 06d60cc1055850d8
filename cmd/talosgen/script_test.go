package main

import (
	"flag"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/internal/gc"
)

var update = flag.Bool("update", false, "write what commands print into the scripts that expect something else")

// testsEach is how many tests run at once for each processor.
const testsEach = 2

// TestMain lets the test binary be talosgen itself: scripts run the real main in other
// processes. Tests wait for a simulated cluster at times, so more of them run at once than
// there are processors, unless -parallel says how many; not many more, since what takes
// turns on a processor costs up to twice as much of it.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(testsEach*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(paced{m}, map[string]func(){
		"talosgen":        talosgenMain,
		"talosgen-worker": workerMain,
		"unprivileged":    unprivilegedMain,
		"docs-editor":     docsEditorMain,
		"on-terminal":     onTerminalMain,
		"docs-cell":       docsCellMain,
	})
}

// paced runs tests, of which some keep clusters in memory, with a collector that runs
// more often than that of the program.
type paced struct{ *testing.M }

// Run runs them.
func (p paced) Run() int {
	debug.SetGCPercent(gc.Percent / 2)
	return p.M.Run()
}

// TestScripts runs the command line in repositories of its own. Each script
// starts in an empty directory with its archive in it, and with nothing of the
// machine's configuration.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup:               isolate,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":       cmdRepo,
			"exits":      cmdExits,
			"refuses":    cmdRefuses,
			"unleaked":   cmdUnleaked,
			"edit":       cmdEdit,
			"fill":       cmdFill,
			"forge":      cmdForge,
			"snapshot":   cmdSnapshot,
			"changes":    cmdChanges,
			"sim":        cmdSim,
			"charts":     cmdCharts,
			"calls":      cmdCalls,
			"node-calls": cmdNodeCalls,
			"fault":      cmdFault,
			"hcloud":     cmdHcloud,
			"addresses":  cmdAddresses,
			"hold-lock":  cmdHoldLock,
			"opened":     cmdOpened,
			"ssh-key":    cmdSSHKey,
			"kube-apply": cmdKubeApply,
			"autoscale":  cmdAutoscale,
			"rollout":    cmdRollout,
			"kube-get":   cmdKubeGet,
			"connect":    cmdConnect,
			"rogue":      cmdRogue,
			"rogue-got":  cmdRogueGot,
			"machines":   cmdMachines,
			"power":      cmdPower,
			"robot":      cmdRobot,
			"receiver":   cmdReceiver,
			"told":       cmdTold,
			"signal":     cmdSignal,
		},
	})
}

// isolate gives a script a home of its own, with the operator's key where sops
// looks for it, and an editor for git that never asks.
func isolate(env *testscript.Env) error {
	f, err := prepared()
	if err != nil {
		return err
	}
	env.Values[stateKey{}] = &state{}
	env.Values[receiverKeyOf{}] = &receiver{}
	env.Values[robotKey{}] = &robotHolder{}
	env.Values[simKey{}] = &simHolder{rogue: &scriptRogue{}}
	home := filepath.Join(env.WorkDir, ".home")
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("OPERATOR_KEY", filepath.Join(home, ".config", "sops", "age", "keys.txt"))
	if err := writeFile(env.Getenv("OPERATOR_KEY"), f.operatorKey); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(home, "stranger.agekey"), f.strangerKey); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(home, "bundle.yaml"), f.bundle); err != nil {
		return err
	}
	const identity = "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n"
	return writeFile(filepath.Join(home, ".gitconfig"), []byte(identity))
}
