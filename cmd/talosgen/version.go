package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"
)

// versionCommand prints the version.
type versionCommand struct{ out *console }

func (v versionCommand) command() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version",
		Description: "Example:\n   talosgen version -o json",
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if forPrograms(c) {
				return v.out.printValue(c, builtAs{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, version})
			}
			return v.out.printData([]byte(versionText() + "\n"))
		},
	}
}

// builtAs is this program.
type builtAs struct {
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Version  string `json:"version"`
}

func versionText() string {
	return fmt.Sprintf("talosgen %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
