module github.com/talosgen/talosgen/testenv/talosnode/node

go 1.26.5
