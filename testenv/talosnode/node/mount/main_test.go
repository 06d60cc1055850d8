package main

import (
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]request{
		"-t tmpfs -o size=5,noswap tmpfs /a": {kind: "tmpfs", data: "size=5,noswap", paths: []string{"tmpfs", "/a"}},
		"--no-canonicalize -o bind /a /b":    {flags: syscall.MS_BIND, paths: []string{"/a", "/b"}},
		"-o bind,remount,ro /a /b": {
			flags: syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY, paths: []string{"/a", "/b"},
		},
		"/a": {paths: []string{"/a"}},
	} {
		got, err := parse(strings.Fields(args))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", args, got, err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, args := range []string{"-t", "-o", "--bind /a /b", "", "/a", "/a /b /c"} {
		if err := run("mount", strings.Fields(args)); err == nil {
			t.Errorf("mount %s was accepted", args)
		}
	}
}
