// Package md2man takes the place of github.com/cpuguy83/go-md2man, by which urfave/cli
// would make a page for man of Markdown: talosgen has pages of its own, for all commands,
// and nothing calls it (see decision 0018).
package md2man

// Render would make a page. It panics, so that what calls it one day is noticed.
func Render([]byte) []byte { panic("md2man is not linked; see decision 0018") }
