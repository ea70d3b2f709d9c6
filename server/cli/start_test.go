package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/testdb"
)

// newcomer is somebody who has the address of a server and an empty directory.
type newcomer struct {
	directory string
	blocks    map[string]string
}

// TestStartPage reads docs/start.md from a server, and does what it says.
func TestStartPage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"python3", "node", "npm", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			if testdb.IsRequired() {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	s := process.Serve(t, store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}, "--demo")
	s.Printed() // once it is loaded
	n := newcomer{directory: t.TempDir()}
	n.blocks = blocksIn("start", n.run(t, "curl -sS http://"+s.REST+"/docs/start.md"))
	python := n.bot(t, "A bot in Python", "bot.py", ".venv/bin/python")
	overlay := n.bot(t, "An overlay in TypeScript", "overlay.mjs", "node")

	signIn := n.block(t, "Sign in with curl/1")
	n.approve(t, n.run(t, signIn))
	client, _, _ := strings.Cut(signIn, "\n")
	out := n.run(t, client+"\n"+n.block(t, "Sign in with curl/2")+n.block(t, "Sign in with curl/3")+
		`curl -s http://`+s.REST+`/v1/chats/messages -H "client-id: $client" -H "Authorization: Bearer $token" -H 'content-type: application/json' -d "{\"channelId\":\"$channel\",\"message\":\"Hello from curl\"}"`)
	if !strings.Contains(out, "channel="+demoOwner+" token=mdu_") || strings.Count(out, `"success":true`) != 2 {
		t.Errorf("the commands print\n%s", out)
	}
	python.until(t, "Hello from curl")
	overlay.until(t, "Hello from curl")
}

// block returns a block of the page, which the server sent.
func (n newcomer) block(t *testing.T, name string) string {
	t.Helper()
	text := n.blocks["start: "+name]
	if text == "" {
		t.Fatalf("the page has no block %s", name)
	}
	return text
}

func (n newcomer) command(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = n.directory
	cmd.Env = append(os.Environ(), "npm_config_audit=false", "npm_config_fund=false", "PIP_NO_INDEX=1")
	return cmd
}

func (n newcomer) run(t *testing.T, text string) string {
	t.Helper()
	out, err := n.command(t, text).Output()
	if err != nil {
		t.Fatalf("%s\n%v\n%s%s", text, err, out, stderrOf(err))
	}
	return string(out)
}

// bot installs a library from the server, and starts a program that signs in with it.
func (n newcomer) bot(t *testing.T, section, file, command string) *listener {
	t.Helper()
	n.run(t, n.block(t, section+"/1"))
	if err := os.WriteFile(filepath.Join(n.directory, file), []byte(n.block(t, section+"/2")), 0o600); err != nil {
		t.Fatal(err)
	}
	l := listen(t, n.command(t, "exec "+command+" "+file))
	printed := l.until(t, "To sign in, open ")
	_, address, _ := strings.Cut(printed[len(printed)-1], "open ")
	process.ApproveDevice(t, address, demo.People().Owner.ID)
	l.until(t, "Listening as "+demo.People().Owner.DisplayName)
	return l
}

// approve approves a sign-in by the response of the device endpoint.
func (n newcomer) approve(t *testing.T, response string) {
	t.Helper()
	var device struct {
		Address string `json:"verification_uri_complete"`
	}
	if err := json.Unmarshal([]byte(response), &device); err != nil {
		t.Fatal(err)
	}
	process.ApproveDevice(t, device.Address, demo.People().Owner.ID)
}
