package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
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
	mostStartMemory = 20 << 20               // without the pages of the program itself
	starts          = 10
)

// TestStart bounds what every command pays before it does anything.
func TestStart(t *testing.T) {
	if runtime.GOARCH != "amd64" {
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
	cpu := time.Hour
	for range starts {
		cmd := exec.Command(program, "version")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		cpu = min(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	memory := private(t, program)
	t.Logf("version: %s of CPU time, %d MB", cpu, memory>>20)
	if cpu > mostStartCPU {
		t.Errorf("version takes %s of CPU time, more than %s", cpu, mostStartCPU)
	}
	if memory > mostStartMemory {
		t.Errorf("version takes %d bytes of memory, more than %d", memory, mostStartMemory)
	}
}

// mostUntilPrinted is far more than a start takes on a busy machine.
const mostUntilPrinted = 2 * time.Minute

// private is the memory of a program that is its own, when it has done its work: without
// pages of the file that it is in, of which the kernel maps as many as it happens to have
// together. The program stays at its end, as nobody takes what it prints.
func private(t *testing.T, program string) int64 {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fill(t, write)
	cmd := exec.CommandContext(t.Context(), program, "version")
	cmd.Stdout = write
	if err := errors.Join(cmd.Start(), write.Close()); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(mostUntilPrinted); !writes(t, cmd.Process.Pid); { // each look is a few calls to the kernel
		if time.Now().After(until) {
			t.Fatalf("it has printed nothing after %s", mostUntilPrinted)
		}
	}
	memory := anonymous(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return memory
}

// writes reports whether a process is in a call that writes to its stdout.
func writes(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the process is gone: %v", err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if errors.Is(err, fs.ErrPermission) {
			t.Fatal(err)
		}
		if err == nil && strings.HasPrefix(string(text), "1 0x1 ") {
			return true
		}
	}
	return false
}

// fill fills a pipe.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	if err := pipe.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Write(make([]byte, 4<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe is not full: %v", err)
	}
}

// anonymous is the memory of a process that is in no file, in bytes.
func anonymous(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "\nRssAnon:")
	var kilobytes int64
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatalf("%v in\n%s", err, status)
	}
	return kilobytes << 10
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
