package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestConfirmation answers the question on a terminal.
func TestConfirmation(t *testing.T) {
	for answer, isConfirmed := range map[string]bool{"y\n": true, "Yes\n": true, "\n": false, "no\n": false, "\x04": false} {
		operator, program := terminal(t)
		if _, err := operator.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		err := confirmation{}.ask(&streams{in: program, err: &errs}, "Delete it?")
		if (err == nil) != isConfirmed || errs.String() != "Delete it? [y/N] " {
			t.Errorf("%q: got %v, asks %q", answer, err, &errs)
		}
	}
	if err := (confirmation{}).ask(&streams{in: strings.NewReader("y\n")}, "Delete it?"); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("without a terminal: got %v", err)
	}
	if err := (confirmation{Yes: true}).ask(&streams{in: strings.NewReader("")}, "Delete it?"); err != nil {
		t.Errorf("with --yes: got %v", err)
	}
}

// terminal returns the two ends of a pseudo-terminal.
func terminal(t *testing.T) (operator, program *os.File) {
	t.Helper()
	operator, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = operator.Close() })
	fd := int(operator.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return operator, program
}
