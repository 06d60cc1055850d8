package main

import "github.com/urfave/cli/v2"

// Flags of commands that talk to Hetzner Cloud.
const (
	flagEndpoint   = "hcloud-endpoint"
	flagAllowDirty = "allow-dirty"
	flagVerbose    = "verbose"
	flagYes        = "yes"
)

// Variables of commands that talk to Hetzner Cloud, as Hetzner's own tools have
// them.
const (
	endpointVariable = "HCLOUD_ENDPOINT"
	tokenVariable    = "HCLOUD_TOKEN"
)

// sessionFlags are those of every command that talks to Hetzner Cloud.
func sessionFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.BoolFlag{Name: flagAllowDirty, Usage: "accept a rendered/<env> that is not committed and pushed"},
		endpointFlag(),
		verboseFlag(),
	)
}

func endpointFlag() cli.Flag {
	return &cli.StringFlag{Name: flagEndpoint, Usage: "`URL` of the Hetzner Cloud API; default: $" + endpointVariable + ", else Hetzner's"}
}

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagVerbose, Aliases: []string{"v"}, Usage: "log every request"}
}
