package main

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
)

// verify checks that a binary is what a release promises: it was built for the target from
// an unchanged commit, without cgo, and on Linux needs no dynamic loader. (Binaries for
// macOS always load the system's library, which is its stable interface.)
func verify(t target, file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": t.os, "GOARCH": t.arch, "CGO_ENABLED": "0", "-trimpath": "true", "vcs.modified": "false"} {
		if settings[key] != want {
			return fmt.Errorf("%s: its build setting %s is %q, want %q", file, key, settings[key], want)
		}
	}
	if t.os != "linux" {
		return nil
	}
	binary, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = binary.Close() }()
	for _, segment := range binary.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			return fmt.Errorf("%s: it is not static", file)
		}
	}
	return nil
}
