// Gotest runs go test with the given arguments, prints its output as it is produced, and
// then the ten slowest tests. Its exit code is that of go test, but it also fails if -run
// selects no test.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (exitCode int, err error) {
	// go test gets Ctrl-C too, and this program ends after it. To ignore the signal would
	// make go test ignore it.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	r := newReport(out)
	readErr := r.read(events)
	r.printSlowest(10)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	if err = errors.Join(err, readErr); err != nil {
		return 1, err
	}
	if i := slices.Index(args, "-run"); i >= 0 && i+1 < len(args) && !r.hasTests {
		return 1, fmt.Errorf("no test matches -run %q in %s", args[i+1], strings.Join(args[i+2:], " "))
	}
	return 0, nil
}
