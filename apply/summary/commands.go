package summary

// Commands write command lines, for who reads a report. Without both of them the
// report names no commands.
type Commands struct {
	// The command of the run once more, with more arguments: it goes on with what
	// the run left.
	Again func(more ...string) string
	// Of another command, for the environment of the run, with more arguments.
	Of func(name string, more ...string) string
}
