package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
)

// confirmation is the flag of commands that delete something which nothing brings back.
type confirmation struct {
	Yes bool `help:"Do not ask."`
}

// ask asks on the terminal, and returns an error unless the answer is yes.
func (c confirmation) ask(s *streams, question string) error {
	if c.Yes {
		return nil
	}
	if !isTerminal(s.in) {
		return errors.New("standard input is not a terminal that could be asked; confirm with --yes")
	}
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(s.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil { // nobody answers, as from /dev/null
		return errors.New("nothing was deleted: there was no answer; confirm with --yes")
	}
	return errors.New("nothing was deleted")
}
