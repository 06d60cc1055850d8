package main

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// What a start may cost, with a tenth of room over what it was when the bound was
// set: a library that is linked by mistake costs more than that. Time has much
// more room, as other programs disturb it.
const (
	mostInitialised = 13 << 20               // bytes that packages allocate before main begins
	mostLoaded      = 91 << 20               // code and data of the program, without symbols
	mostStartCPU    = 200 * time.Millisecond // the least of several starts
	mostStartMemory = 100 << 20
	starts          = 10
)

// TestStart bounds what every command pays before it does anything.
func TestStart(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the bounds are those of one platform")
	}
	program := toolenv.Talosgen(t)
	if got := loaded(t, program); got > mostLoaded {
		t.Errorf("%d bytes are loaded, more than %d", got, mostLoaded)
	}
	if got := initialised(t, program); got > mostInitialised {
		t.Errorf("packages allocate %d bytes, more than %d; GODEBUG=inittrace=1 says which", got, mostInitialised)
	}
	if got := collections(t, program); got > 0 {
		t.Errorf("the collector runs %d times; is internal/gc initialised before the libraries, and do they allocate less than 16 MiB?", got)
	}
	cpu, memory := time.Hour, int64(1)<<62
	for range starts {
		cmd := exec.Command(program, "version")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		cpu = min(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		memory = min(memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss*1024)
	}
	t.Logf("version: %s of CPU time, %d MB", cpu, memory>>20)
	if cpu > mostStartCPU {
		t.Errorf("version takes %s of CPU time, more than %s", cpu, mostStartCPU)
	}
	if memory > mostStartMemory {
		t.Errorf("version takes %d bytes of memory, more than %d", memory, mostStartMemory)
	}
}

// loaded is the size of the sections of a program that are there when it runs.
func loaded(t *testing.T, program string) (size uint64) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			size += s.Size
		}
	}
	t.Logf("%d MB are loaded", size>>20)
	return size
}

var allocated = regexp.MustCompile(`(?m)^init \S+ @.* (\d+) bytes, `)

// collections is how often the garbage collector runs: what libraries allocate before
// main begins stays until the end, so to collect it costs a fifth of a start, for
// nothing.
func collections(t *testing.T, program string) int {
	t.Helper()
	return bytes.Count(append([]byte("\n"), traced(t, program, "gctrace=1")...), []byte("\ngc "))
}

// traced is what a start prints with a setting of GODEBUG.
func traced(t *testing.T, program, setting string) []byte {
	t.Helper()
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG="+setting)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// initialised is what packages allocate in the order of their imports. It is the
// same in each run, but for a few bytes.
func initialised(t *testing.T, program string) (size int) {
	t.Helper()
	out := traced(t, program, "inittrace=1")
	packages := allocated.FindAllSubmatch(out, -1)
	if len(packages) < 100 {
		t.Fatalf("%d packages say what they allocate:\n%s", len(packages), out)
	}
	for _, p := range packages {
		n, err := strconv.Atoi(string(p[1]))
		if err != nil {
			t.Fatal(err)
		}
		size += n
	}
	t.Logf("%d packages allocate %d bytes", len(packages), size)
	return size
}
