package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// Three quarters of what commands of scripts cost is the start of a process: the kernel
// loads it, and libraries initialise themselves. So scripts have workers: processes that
// run one command after the other, each in the directory, in the environment and with
// the streams that a process of its own would have. At night each has one.

// order is a command that a worker is to run.
type order struct {
	Dir       string
	Env, Args []string
}

// answered is what came of it.
type answered struct {
	Code           int
	Stdout, Stderr string
	Problem        string // that the worker had
}

// workerMain runs commands as [talosgenMain] does, until there are no more.
func workerMain() {
	unix.CloseOnExec(3) // children of commands have neither
	unix.CloseOnExec(4)
	orders, answers := json.NewDecoder(os.NewFile(3, "orders")), json.NewEncoder(os.NewFile(4, "answers"))
	for {
		var o order
		if orders.Decode(&o) != nil {
			os.Exit(0)
		}
		out, err := o.carryOut()
		if err != nil {
			out.Problem = err.Error()
		}
		if answers.Encode(out) != nil {
			os.Exit(1)
		}
	}
}

// carryOut runs a command in this process.
func (o order) carryOut() (out answered, err error) {
	os.Clearenv()
	for _, variable := range o.Env {
		name, value, _ := strings.Cut(variable, "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	if err := errors.Join(err, os.Chdir(o.Dir)); err != nil {
		return out, err
	}
	os.Args = o.Args
	stdout, ofStdout := redirected(1)
	stderr, ofStderr := redirected(2)
	if err := errors.Join(ofStdout, ofStderr); err != nil {
		return out, err
	}
	out.Code = talosgenCode()
	out.Stdout, ofStdout = written(stdout)
	out.Stderr, ofStderr = written(stderr)
	return out, errors.Join(ofStdout, ofStderr)
}

// redirected leads what this process and its children write to a file descriptor into a
// file without a name.
func redirected(descriptor int) (*os.File, error) {
	file, err := os.CreateTemp("", "stream-")
	if err != nil {
		return nil, err
	}
	return file, errors.Join(os.Remove(file.Name()), unix.Dup2(int(file.Fd()), descriptor))
}

// written is what was written to a file, which it closes.
func written(file *os.File) (string, error) {
	defer file.Close()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(file)
	return string(text), err
}

// worker is a process that runs [workerMain].
type worker struct {
	process *exec.Cmd
	orders  *json.Encoder
	answers *json.Decoder
}

// workers are those that wait for a command. They end with the process that gives it.
var workers struct {
	sync.Mutex

	idle []*worker
}

// idleWorker is one that waits, or a new one.
func idleWorker() (*worker, error) {
	workers.Lock()
	defer workers.Unlock()
	if last := len(workers.idle) - 1; last >= 0 {
		w := workers.idle[last]
		workers.idle = workers.idle[:last]
		return w, nil
	}
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	process := exec.Command("talosgen-worker")
	process.ExtraFiles = []*os.File{theirOrders, theirAnswers}
	err = process.Start()
	return &worker{process, json.NewEncoder(orders), json.NewDecoder(answers)}, errors.Join(err, theirOrders.Close(), theirAnswers.Close())
}

// run has a worker run the command.
func (o order) run() (out answered, err error) {
	w, err := idleWorker()
	if err != nil {
		return out, err
	}
	if err := errors.Join(w.orders.Encode(o), w.answers.Decode(&out)); err != nil {
		return out, errors.Join(err, w.process.Wait())
	}
	workers.Lock()
	defer workers.Unlock()
	workers.idle = append(workers.idle, w)
	if out.Problem != "" {
		return out, errors.New(out.Problem)
	}
	return out, nil
}

// execute runs a program of a script: talosgen in a worker, but for one with input.
func execute(ts *testscript.TestScript, program string, args ...string) answered {
	hidden := reflect.ValueOf(ts).Elem() // a script does not tell otherwise
	input := hidden.FieldByName("stdin").String() + hidden.FieldByName("ttyin").String()
	if program != "talosgen" || input != "" || os.Getenv(nightlyVariable) != "" {
		err := ts.Exec(program, args...)
		out := answered{Stdout: ts.ReadFile("stdout"), Stderr: ts.ReadFile("stderr")}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			out.Code, err = exit.ExitCode(), nil
		}
		ts.Check(err)
		return out
	}
	o := order{Dir: ts.MkAbs("."), Args: append([]string{program}, args...)}
	variables := hidden.FieldByName("env")
	for i := range variables.Len() {
		o.Env = append(o.Env, variables.Index(i).String())
	}
	out, err := o.run()
	ts.Check(err)
	_, toStdout := io.WriteString(ts.Stdout(), out.Stdout)
	_, toStderr := io.WriteString(ts.Stderr(), out.Stderr)
	ts.Check(errors.Join(toStdout, toStderr))
	return out
}
