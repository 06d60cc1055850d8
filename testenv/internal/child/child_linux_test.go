package child

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestStart kills a process that has started a program. The program would wait
// for ever; that its output ends says that it has.
func TestStart(t *testing.T) {
	const variable = "CHILD_TEST"

	if os.Getenv(variable) != "" {
		program := exec.Command("cat")
		program.Stdin, program.Stdout = os.Stdin, os.Stdout

		if err := Start(program); err != nil {
			t.Fatal(err)
		}

		_ = program.Wait() // both are killed

		return
	}

	parent := exec.Command(os.Args[0], "-test.run=^TestStart$")
	parent.Env = append(os.Environ(), variable+"=1")

	stdin, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}

	const word = "there"
	if _, err := io.WriteString(stdin, word); err != nil {
		t.Fatal(err)
	}

	if _, err := io.ReadFull(stdout, make([]byte, len(word))); err != nil {
		t.Fatal(err)
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	if rest, err := io.ReadAll(stdout); err != nil || len(rest) > 0 {
		t.Errorf("it says %q (%v)", rest, err)
	}

	_ = parent.Wait() // it was killed
}
