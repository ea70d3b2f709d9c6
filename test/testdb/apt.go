package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// installPackages installs packages of the system.
func installPackages(ctx context.Context, log string, packages ...string) error {
	apt := []string{"env", "DEBIAN_FRONTEND=noninteractive", "apt-get"}
	if os.Geteuid() != 0 {
		apt = append([]string{"sudo", "-n"}, apt...)
	}
	install := slices.Concat(apt, []string{"install", "-y", "--no-install-recommends"}, packages)
	// The lists of packages are refreshed only if the installation fails without it:
	// mostly they are there, and refreshing them takes longer than installing.
	if runLogged(ctx, log, install...) == nil {
		return nil
	}
	err := runLogged(ctx, log, append(apt, "update")...)
	if err == nil {
		err = runLogged(ctx, log, install...)
	}
	if err != nil {
		return fmt.Errorf("%w; the end of the log:\n%s", err, lastLines(log))
	}
	return nil
}

// runLogged runs a command and appends its output to a log.
func runLogged(ctx context.Context, log string, args ...string) error {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// debianMirrors returns the mirrors from which the system itself takes Debian's
// packages, as apt understands its own sources. Other archives cannot be told apart for
// sure. To try them does no harm: they have no unstable that Debian's keys signed.
func debianMirrors(ctx context.Context) []string {
	// Without release info apt lists sources that were never fetched too.
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--no-release-info",
		"--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages").Output()
	if err != nil {
		return nil
	}
	return mirrorsOf(string(out), codename())
}

// mirrorsOf returns the mirrors in lines of `URI RELEASE COMPONENT`. Only the main
// suites count: an archive of security updates, for example, has no unstable.
func mirrorsOf(targets, codename string) []string {
	suites := []string{codename, "stable", "testing", "unstable", "sid"}
	var mirrors []string
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[2] != "main" || !slices.Contains(suites, fields[1]) {
			continue
		}
		if mirror := strings.TrimRight(fields[0], "/"); !slices.Contains(mirrors, mirror) {
			mirrors = append(mirrors, mirror)
		}
	}
	return mirrors
}

var codenameLine = regexp.MustCompile(`(?m)^VERSION_CODENAME="?([a-z]+)`)

func codename() string {
	text, _ := os.ReadFile("/etc/os-release")
	if found := codenameLine.FindStringSubmatch(string(text)); found != nil {
		return found[1]
	}
	return ""
}

// provideKeyring returns the file with the keys that sign Debian's packages. Only other
// distributions lack it, and Ubuntu has it as a package.
func (s Starter) provideKeyring(ctx context.Context, logs string) (string, error) {
	if file := keyring(); file != "" {
		return file, nil
	}
	s.say("installing debian-archive-keyring, to check the signatures of MySQL's packages")
	if err := installPackages(ctx, filepath.Join(logs, "install-keyring.log"), "debian-archive-keyring"); err != nil {
		s.say("%v", err)
	}
	if file := keyring(); file != "" {
		return file, nil
	}
	return "", errors.New("the keys of Debian, with which its packages are checked, are missing; install the package debian-archive-keyring and run this again")
}

func keyring() string {
	for _, file := range []string{"/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"} {
		if f, err := os.Open(file); err == nil {
			_ = f.Close()
			return file
		}
	}
	return ""
}
