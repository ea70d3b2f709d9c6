package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type help struct {
	Command []string `arg:"" optional:"" help:"The command." placeholder:"COMMAND"`
}

// Run prints what --help prints after the words of the command.
func (h *help) Run(parser *kong.Kong) error {
	line := commandLine{node: parser.Model.Node}
	for _, word := range h.Command {
		line.read(word)
	}
	if line.positional > 0 || line.awaits != nil {
		return fmt.Errorf("unknown command %s; 'moderato help' lists the commands", strings.Join(h.Command, " "))
	}
	_, err := parser.Parse(append(h.Command, "--help")) // ends in kong's exit
	return err
}
