package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/cli"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/testdb"
)

// complete returns the candidates for the last of some words.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	var out, errs servertest.Buffer
	if code := cli.Run(t.Context(), append([]string{"__complete", "--"}, words...), strings.NewReader(""), &out, &errs); code != 0 || errs.String() != "" {
		t.Errorf("%q: exit code %d, %s", words, code, &errs)
	}
	var all []string
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(line, "\t")
		all = append(all, word)
	}
	return all
}

func TestCompletionCandidates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"to"}, "token"},
		{[]string{"token", ""}, "issue list inspect revoke"},
		{[]string{"token", "issue", "--cl"}, "--client"},
		{[]string{"demo", ""}, "raid"},
		{[]string{"conformance", "--to"}, "--token"},
		{[]string{"demo", "raid", "--ra"}, "--raiders"},
		{[]string{"token", "issue", "--scope", "users."}, "users.read users.bot"},
		{[]string{"token", "issue", "--client", "token", "--scope=channel."}, "--scope=channel.moderate"},
		{[]string{"token", "issue", "--scope", "=", "channel."}, "channel.moderate"}, // as bash splits it
		{[]string{"token", "issue", "--scope", "="}, "users.read channel.moderate offline.access users.bot"},
		{[]string{"token", "issue", "--app", "--service"}, "--service-token-lifetime --service"},
		{[]string{"events", "trigger", "channel.chat.m"}, "channel.chat.message_delete channel.chat.message"},
		{[]string{"events", "trigger", "channel.ban", "ch"}, ""},
		{[]string{"events", "tail", "--type", "stream.o"}, "stream.online stream.offline"},
		{[]string{"serve", "--log-level", ""}, "debug info warn error"},
		{[]string{"api", "P"}, "POST"},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{"import", ""}, ""}, // a file, which the shell completes
		{[]string{"nonsense", ""}, "serve"},
		{nil, "serve"},
	} {
		got := complete(t, c.words...)
		if want := strings.Fields(c.want); !slices.Equal(got[:min(len(got), len(want))], want) || (len(got) > len(want) && c.want != "serve") {
			t.Errorf("%q: got %q, want %q", c.words, got, want)
		}
	}
	if got := complete(t, ""); slices.Contains(got, "__complete") || !slices.Contains(got, "events") {
		t.Errorf("the commands are %q", got)
	}
}

// TestCompletionScripts has each shell complete a command line with the script that is
// printed for it. A shell that is not installed is skipped; in CI the test fails.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wrapper := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", process.AsProgram, self)
	if err := os.WriteFile(filepath.Join(directory, "moderato"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	for shell, ask := range map[string]string{
		"bash": `source <(moderato completion bash)
			COMP_WORDS=(moderato events trigger channel.sub) COMP_CWORD=3
			_moderato
			printf '%s\n' "${COMPREPLY[@]}"`,
		"zsh": `autoload -U compinit && compinit -D -u
			source <(moderato completion zsh)
			_describe() { print -l -- "${(@)${(@P)2}%%:*}"; }
			words=(moderato events trigger channel.sub) CURRENT=4
			_moderato`,
		"fish": `moderato completion fish | source
			complete -C 'moderato events trigger channel.sub' | cut -f1`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell); err != nil {
				if testdb.IsRequired() {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			cmd := exec.CommandContext(t.Context(), shell, "-c", ask)
			cmd.Env = []string{"PATH=" + directory + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
			out, err := cmd.CombinedOutput()
			got := strings.Fields(string(out))
			slices.Sort(got)
			if want := []string{"channel.subscribe", "channel.subscription.end", "channel.subscription.gift"}; err != nil || !slices.Equal(got, want) {
				t.Errorf("got %s (%v), want %q", out, err, want)
			}
		})
	}
}
