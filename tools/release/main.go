// Release builds what is published of a release: static binaries for Linux and macOS, an
// SBOM of each, and checksums. It builds the commit that is checked out. Two builds of a
// commit with the same version of Go have identical bytes; -check builds a second time, in
// another directory and without what the first build cached, and compares.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is an operating system and an architecture.
type target struct{ os, arch string }

// defaultTargets are the targets of a release.
const defaultTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

// checksums is the name of the file with the SHA-256 of all others, as sha256sum reads it.
const checksums = "SHA256SUMS"

func main() {
	out := flag.String("out", "bin/release", "the directory for the files; those of an earlier build are removed")
	names := flag.String("targets", defaultTargets, "what to build for, as OS/ARCHITECTURE separated by commas")
	check := flag.Bool("check", false, "build a second time, and fail if a byte differs")
	flag.Parse()
	if err := run(context.Background(), *out, *names, *check); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, names string, check bool) error {
	targets, err := parseTargets(names)
	if err != nil {
		return err
	}
	if changes, err := output(ctx, "git", "status", "--porcelain"); err != nil || changes != "" {
		return cmp.Or(err, errors.New("the working tree has changes, and a release is built from a commit:\n"+changes))
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := removeEarlier(out); err != nil {
		return err
	}
	first := build{out: out}
	if first.commit, err = output(ctx, "git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	if err := first.all(ctx, targets); err != nil {
		return err
	}
	if check {
		return first.compare(ctx, targets)
	}
	return nil
}

// removeEarlier removes the files of an earlier build, which may have had other targets.
func removeEarlier(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "moderato-*-*"))
	for _, file := range append(files, filepath.Join(dir, checksums)) {
		if failed := os.Remove(file); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

func parseTargets(names string) (targets []target, err error) {
	for name := range strings.SplitSeq(names, ",") {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("-targets: %q must be OS/ARCHITECTURE, such as linux/amd64", name)
		}
		targets = append(targets, target{system, arch})
	}
	return targets, nil
}

// compare builds the targets again, and compares the result with that of b.
func (b build) compare(ctx context.Context, targets []target) error {
	dir, err := os.MkdirTemp("", "moderato-release-again-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	again := build{commit: b.commit, out: filepath.Join(dir, "out"), env: []string{"GOCACHE=" + filepath.Join(dir, "cache")}}
	if err := again.all(ctx, targets); err != nil {
		return err
	}
	first, err := os.ReadFile(filepath.Join(b.out, checksums))
	if err != nil {
		return err
	}
	second, err := os.ReadFile(filepath.Join(again.out, checksums))
	if err != nil {
		return err
	}
	if string(first) != string(second) {
		return fmt.Errorf("the builds differ; the first one has\n%sand the second one\n%s", first, second)
	}
	fmt.Println("the second build has identical bytes")
	return nil
}

// build is a build of a commit.
type build struct {
	commit, out string
	env         []string
	// source is a clone of the repository, which exists during the build. Go records the
	// commit only in a clone, and not in a worktree.
	source string
}

// all builds the binaries and their SBOMs, and then the checksums.
func (b build) all(ctx context.Context, targets []target) error {
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	var err error
	if b.source, err = os.MkdirTemp("", "moderato-release-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.source) }()
	if _, err := output(ctx, "git", "clone", "--quiet", ".", b.source); err != nil {
		return err
	}
	if _, err := output(ctx, "git", "-C", b.source, "checkout", "--quiet", "--detach", b.commit); err != nil {
		return err
	}
	var sums strings.Builder
	for _, t := range targets {
		name := "moderato-" + t.os + "-" + t.arch
		file := filepath.Join(b.out, name)
		if err := b.compile(ctx, t, file); err != nil {
			return err
		}
		if err := verify(t, file); err != nil {
			return err
		}
		bom, err := newBOM(file)
		if err != nil {
			return err
		}
		if err := bom.write(file + ".cdx.json"); err != nil {
			return err
		}
		for _, name := range []string{name, name + ".cdx.json"} {
			sum, err := digest(filepath.Join(b.out, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		}
		fmt.Println(file)
	}
	return os.WriteFile(filepath.Join(b.out, checksums), []byte(sums.String()), 0o644)
}

// compile builds the binary of a target. Its flags are those of make build, and remove
// what depends on the machine: paths, cgo, settings in the environment.
func (b build) compile(ctx context.Context, t target, file string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w -buildid=", "-o", file, "./cmd/moderato")
	cmd.Dir, cmd.Stderr = b.source, os.Stderr
	cmd.Env = append(os.Environ(),
		"GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off")
	cmd.Env = append(cmd.Env, b.env...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s/%s: %w", t.os, t.arch, err)
	}
	return nil
}

// output runs a command and returns its output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// digest returns the SHA-256 of a file.
func digest(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
