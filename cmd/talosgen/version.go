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
			if wantsJSON(c) {
				return v.out.printJSON(map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
			}
			return v.out.printData([]byte(versionText() + "\n"))
		},
	}
}

func versionText() string {
	return fmt.Sprintf("talosgen %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
