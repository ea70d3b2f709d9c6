package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// The markers around the tables in the page.
const (
	pageBegin = "<!-- measured: begin -->\n"
	pageEnd   = "<!-- measured: end -->\n"
)

// writePage writes the results into a page, and the plots into its directory.
func (b *bench) writePage(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(page, []byte(pageBegin))
	_, after, foundEnd := bytes.Cut(rest, []byte(pageEnd))
	if !found || !foundEnd {
		return errors.New(path + " has no place for the tables")
	}
	var out bytes.Buffer
	out.Write(before)
	fmt.Fprintf(&out, "%s%s\n\n", pageBegin, b.machine)
	b.writeTable(&out)
	out.WriteString(pageEnd)
	out.Write(after)
	return errors.Join(os.WriteFile(path, out.Bytes(), 0o644), b.writePlots(filepath.Dir(path)))
}

// describe returns the machine, the versions and the settings of the run.
func (b *bench) describe(ctx context.Context) (string, error) {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.TrimSpace(strings.TrimLeft(name, "\t :"))
				break
			}
		}
	}
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	database := ""
	if b.mariadb != nil {
		version, err := b.mariadb.version(ctx)
		if err != nil {
			return "", err
		}
		database = fmt.Sprintf(", MariaDB %s with a buffer pool of %d MiB and a durable commit", version, b.bufferPool)
	}
	return fmt.Sprintf("%s, %d of its cores for everything: load, server and database; %s%s. Commit %s. %d rounds of %s each, in turns.",
		cpu, runtime.NumCPU(), runtime.Version(), database, strings.TrimSpace(string(commit)), b.rounds, b.leg), nil
}
