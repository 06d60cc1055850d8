package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// knowsSequences makes a console heed the sequences that move its cursor and colour its
// text; false if it is one that cannot, of before Windows 10.
func knowsSequences(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	const heed = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&heed != 0 || windows.SetConsoleMode(console, mode|heed) == nil
}
