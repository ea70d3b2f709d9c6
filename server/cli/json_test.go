package cli

import (
	"testing"

	"github.com/alecthomas/kong"
)

// printsNoData lists the commands that need no --json, with the reason.
var printsNoData = map[string]string{
	"serve": "logs", "migrate": "no data", "import": "no data", "backup": "no data", "keys rotate": "no data",
	"archive write": "always JSON Lines, in files", "archive verify": "lines for people", "archive erase": "no data",
	"client delete": "no data", "user erase": "no data", "token revoke": "no data",
	"user export": "always JSON Lines", "api": "always JSON", "completion": "a script", "help": "help",
	"demo raid": "commands to paste",
}

// TestCommandsThatPrintDataHaveJSON fails for a new command without --json.
func TestCommandsThatPrintDataHaveJSON(t *testing.T) {
	parser, err := newParser(&commands{}, &streams{})
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(false)
	for _, command := range leaves {
		name, hasJSON := command.Path(), false
		for _, flag := range command.Flags {
			hasJSON = hasJSON || flag.Name == "json" && flag.IsBool()
		}
		if _, isListed := printsNoData[pathOf(command)]; hasJSON == isListed {
			t.Errorf("%s has --json: %t, and is listed as a command without data: %t", name, hasJSON, isListed)
		}
	}
	if len(leaves) < 20 {
		t.Errorf("there are %d commands", len(leaves))
	}
}

// pathOf returns the words of a command.
func pathOf(node *kong.Node) string {
	if node.Parent == nil || node.Parent.Type == kong.ApplicationNode {
		return node.Name
	}
	return pathOf(node.Parent) + " " + node.Name
}
