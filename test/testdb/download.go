package testdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unstable is a program of a package of Debian unstable, which is unpacked into a directory of the
// cache.
type unstable struct {
	label, name string // of the program and of its package
	size        string
	home        string
	// version returns the command that prints the version of the program in a directory.
	version func(ctx context.Context, home string) *exec.Cmd
}

func (u unstable) works(ctx context.Context) bool { return u.version(ctx, u.home).Run() == nil }

// provide downloads a program if it is missing. Its errors say what to do.
func (s Starter) provide(ctx context.Context, u unstable, logs string) error {
	// The complete directory appears at once, by a rename: looking needs no lock.
	if u.works(ctx) {
		return nil
	}
	if !s.Install {
		return errors.New("it has not been downloaded yet; `make databases` downloads it once")
	}
	unlock, err := lockCache(filepath.Dir(u.home))
	if err != nil {
		return err
	}
	defer unlock()
	if u.works(ctx) { // another run downloaded it meanwhile
		return nil
	}
	return s.download(ctx, u, logs)
}

// download downloads a program and its libraries to u.home. The caller has locked the cache.
func (s Starter) download(ctx context.Context, u unstable, logs string) error {
	for _, name := range []string{"apt-get", "dpkg"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s, which its download needs, is missing; run the tests on Debian or Ubuntu, or set %s to your own servers", name, Variable)
		}
	}
	keyring, err := s.provideKeyring(ctx, logs)
	if err != nil {
		return err
	}
	s.say("downloading %s and its libraries from Debian unstable (about %s, once)", u.label, u.size)
	cache := filepath.Dir(u.home)
	// Directories of runs that were killed: this one has the lock.
	abandoned, _ := filepath.Glob(filepath.Join(cache, "new.*"))
	for _, dir := range abandoned {
		_ = os.RemoveAll(dir)
	}
	staging, err := os.MkdirTemp(cache, "new.")
	if err != nil {
		return unwritable(cache, err)
	}
	defer removeData(staging)
	d := download{dir: filepath.Join(staging, "download"), keyring: keyring, log: filepath.Join(logs, "download-"+u.name+".log"), name: u.name}
	if err := d.run(ctx); err != nil {
		s.say("%v; the end of the log:\n%s", err, lastLines(d.log))
		return errors.New("the download from Debian unstable failed (the log is above); it uses the Debian mirrors of apt's own sources: check them and the network, then run this again")
	}
	unpacked := filepath.Join(staging, "unpacked")
	if err := d.unpack(ctx, unpacked); err != nil {
		return fmt.Errorf("%w; check that %s has 400 MB of free space, then run this again", err, cache)
	}
	if out, err := u.version(ctx, unpacked).CombinedOutput(); err != nil {
		return fmt.Errorf("the %s that was downloaded does not run: %s; run this again in a few days: unstable may be in the middle of a change", u.label, out)
	}
	// This replaces a program that does not run: nobody uses it.
	if err := errors.Join(os.RemoveAll(u.home), os.Rename(unpacked, u.home)); err != nil {
		return unwritable(cache, err)
	}
	return nil
}

// download is a download of packages with all that they need, by an apt that has nothing
// installed and leaves the system's packages and sources alone.
type download struct {
	dir     string
	keyring string // the keys that sign unstable
	log     string
	name    string // of the package
}

// aptConf adds to the system's settings (its proxies, for example, still hold).
// Signatures are checked as ever.
const aptConf = `
Dir::State "%[1]s/state";
Dir::State::status "%[1]s/status";
Dir::Cache "%[1]s/cache";
Dir::Etc::SourceList "%[1]s/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Default-Release "";
APT::Install-Recommends "false";
// The unprivileged user of apt cannot enter a private home directory, where the cache
// mostly is.
APT::Sandbox::User "";
// Nothing is installed, and the directory belongs to this run alone.
Debug::NoLocking "true";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
// Hooks that tell the system that its own packages changed.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`

// status makes apt believe that Perl is installed, which only scripts beside mysqld use.
// Every library comes from unstable.
const status = `Package: perl
Status: install ok installed
Architecture: %s
Multi-Arch: allowed
Version: 9999
Maintainer: nobody
Description: stands in for the real one
`

// run downloads from the first mirror of the system that has unstable.
func (d download) run(ctx context.Context) error {
	architecture, err := exec.CommandContext(ctx, "dpkg", "--print-architecture").Output()
	if err != nil {
		return fmt.Errorf("dpkg: %w", err)
	}
	arch := strings.TrimSpace(string(architecture))
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(d.dir, dir), 0o700); err != nil {
			return err
		}
	}
	if err := errors.Join(d.write("status", fmt.Sprintf(status, arch)), d.write("apt.conf", fmt.Sprintf(aptConf, d.dir))); err != nil {
		return err
	}
	mirrors := debianMirrors(ctx)
	if len(mirrors) == 0 {
		return errors.New("apt has no source with Debian's packages")
	}
	for _, mirror := range mirrors {
		if err = d.from(ctx, mirror, arch); err == nil {
			return nil
		}
	}
	return err
}

// from downloads from one mirror.
func (d download) from(ctx context.Context, mirror, arch string) error {
	// target=Packages skips indexes that only graphical programs show.
	source := fmt.Sprintf("deb [arch=%s target=Packages signed-by=%s] %s unstable main\n", arch, d.keyring, mirror)
	if err := d.write("sources.list", source); err != nil {
		return err
	}
	apt := []string{"apt-get", "-c", filepath.Join(d.dir, "apt.conf"), "-y"}
	if err := runLogged(ctx, d.log, append(apt, "update", "--error-on=any")...); err != nil {
		return err
	}
	return runLogged(ctx, d.log, append(apt, "install", "--download-only", d.name)...)
}

func (d download) write(name, text string) error {
	return os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600)
}

func (d download) unpack(ctx context.Context, dir string) error {
	packages, err := filepath.Glob(filepath.Join(d.dir, "cache/archives/*.deb"))
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := runLogged(ctx, d.log, "dpkg", "-x", p, dir); err != nil {
			return fmt.Errorf("unpacking %s failed: %w", filepath.Base(p), err)
		}
	}
	return nil
}
