package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// completeCommand is the command with which the scripts of the shells ask for candidates.
// The words of the command line follow after --; the last one is being completed.
const completeCommand = "__complete"

// The scripts that make shells complete command lines of moderato.
var (
	//go:embed completion/moderato.bash
	bashScript string
	//go:embed completion/moderato.zsh
	zshScript string
	//go:embed completion/moderato.fish
	fishScript string
)

type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script for the shell.
func (c *completion) Run(s *streams) error {
	fmt.Fprint(s.out, map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell])
	return nil
}

// valueSources holds the values that the tag `complete` of a flag or an argument names.
var valueSources = map[string]func() []string{
	"events":  eventtype.Types,
	"trigger": func() []string { return slices.Concat(eventtype.Types(), eventtype.LiveTypes()) },
	"scopes":  authn.Scopes,
	"methods": func() []string { return []string{"GET", "HEAD", "POST", "DELETE"} },
}

// candidate is a word that can be at the end of a command line.
type candidate struct{ word, help string }

// writeCandidates writes the candidates for the last of some words, one in a line, each
// followed by a tab and its description.
func writeCandidates(w io.Writer, app *kong.Application, words []string) {
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, c := range candidates(app, words) {
		help, _, _ := strings.Cut(c.help, "\n")
		fmt.Fprintf(w, "%s\t%s\n", c.word, help)
	}
}

func candidates(app *kong.Application, words []string) []candidate {
	words, isSplit := joinEquals(words)
	if len(words) == 0 {
		words = []string{""}
	}
	if words[0] == "help" && len(words) > 1 {
		words = words[1:] // the words of a command follow
	}
	line := commandLine{node: app.Node}
	for _, word := range words[:len(words)-1] {
		line.read(word)
	}
	last := words[len(words)-1]
	name, value, hasValue := strings.Cut(last, "=")
	flag := line.find(name)
	var all []candidate
	switch {
	case line.awaits != nil:
		all = valuesOf(line.awaits.Value)
	case flag != nil && hasValue:
		all = valuesOf(flag.Value)
		if isSplit {
			last = value
			break
		}
		for i := range all {
			all[i].word = name + "=" + all[i].word
		}
	case strings.HasPrefix(last, "-"):
		all = line.flags()
	default:
		all = line.arguments()
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

// joinEquals joins a flag and its value, which bash splits at the equals sign. isSplit is
// true if the last word was split.
func joinEquals(words []string) (joined []string, isSplit bool) {
	for i, word := range words {
		follows := i > 0 && words[i-1] == "=" && len(joined) > 0
		isSplit = len(joined) > 0 && (word == "=" || follows)
		if isSplit {
			joined[len(joined)-1] += word
		} else {
			joined = append(joined, word)
		}
	}
	return joined, isSplit
}

// commandLine is what the words of a command line mean so far.
type commandLine struct {
	node *kong.Node
	// positional is the number of arguments of the command so far.
	positional int
	// awaits is the flag whose value is the next word; nil if it is none.
	awaits *kong.Flag
}

// read reads the next word.
func (l *commandLine) read(word string) {
	if l.awaits != nil {
		l.awaits = nil
		return
	}
	if strings.HasPrefix(word, "-") {
		if flag := l.find(word); flag != nil && !flag.IsBool() {
			l.awaits = flag
		}
		return
	}
	for _, child := range l.node.Children {
		if child.Type == kong.CommandNode && child.Name == word {
			l.node, l.positional = child, 0
			return
		}
	}
	l.positional++
}

// find returns the flag with a name, such as --db or -f, or nil.
func (l *commandLine) find(word string) *kong.Flag {
	for _, group := range l.node.AllFlags(false) {
		for _, flag := range group {
			if word == "--"+flag.Name || (flag.Short != 0 && word == "-"+string(flag.Short)) {
				return flag
			}
		}
	}
	return nil
}

// flags returns the flags of the command.
func (l *commandLine) flags() []candidate {
	var all []candidate
	for _, group := range l.node.AllFlags(true) {
		for _, flag := range group {
			all = append(all, candidate{"--" + flag.Name, flag.Help})
		}
	}
	return all
}

// arguments returns the commands below the command, or the values of its next argument.
func (l *commandLine) arguments() []candidate {
	var all []candidate
	for _, child := range l.node.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	if l.positional < len(l.node.Positional) {
		all = append(all, valuesOf(l.node.Positional[l.positional])...)
	}
	return all
}

// valuesOf returns the values that a flag or an argument can have, if they are known.
func valuesOf(v *kong.Value) []candidate {
	var values []string
	if v.Enum != "" {
		values = v.EnumSlice()
	} else if source := valueSources[v.Tag.Get("complete")]; source != nil {
		values = source()
	}
	all := make([]candidate, len(values))
	for i, value := range values {
		all[i].word = value
	}
	return all
}
