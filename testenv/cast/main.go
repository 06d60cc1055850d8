// Command cast draws what a command prints as a moving picture of a terminal, an SVG
// that needs nothing else and is light or dark as its reader's page is:
//
//	go run ./testenv/cast -o docs/pictures/try.svg -title 'talosgen try dev' -- go run ./cmd/talosgen try dev
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	out := flag.String("o", "", "the file to write")
	title := flag.String("title", "", "the command as a person would type it")
	flag.Parse()
	if err := record(*out, *title, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cast:", err)
		os.Exit(1)
	}
}

// record runs a command, and writes its picture to a file.
func record(out, title string, command []string) error {
	if out == "" || title == "" || len(command) == 0 {
		return fmt.Errorf("usage: cast -o FILE -title TEXT -- COMMAND [ARGUMENT …]")
	}
	run := exec.Command(command[0], command[1:]...)
	run.Env = append(os.Environ(), "CLICOLOR_FORCE=1", "NO_COLOR=")
	var text bytes.Buffer // both streams, as on a terminal
	run.Stdout, run.Stderr = &text, &text
	if err := run.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command[0], err, text.Bytes())
	}
	picture := draw(title, parse(text.String()))
	return os.WriteFile(out, []byte(picture), 0o644)
}
