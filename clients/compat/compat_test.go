// Package compat tests Moderato with the libraries that clients use: openid-client and
// socket.io-client on Node.js, and Chromium. `make clients` installs them.
package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestMain(m *testing.M) { process.Main(m) }

const (
	publicClient       = "public-client"
	confidentialClient = "confidential-client"
)

// given is what a script gets.
type given struct {
	// Servers are the URLs of the servers, which have one database.
	Servers []string `json:"servers"`
	// Proxy is the URL of a proxy before the servers.
	Proxy string `json:"proxy"`
	// Control is the URL with which a script has the first server restarted, and events caused.
	Control string `json:"control"`
	// Tour is what the demo printed.
	Tour string `json:"tour"`

	Client             string `json:"client"`
	PublicClient       string `json:"publicClient"`
	ConfidentialClient string `json:"confidentialClient"`
	Secret             string `json:"secret"`
	// Moderator and Owner are tokens for Client, and ShortToken is one for PublicClient.
	Moderator  string `json:"moderator"`
	Owner      string `json:"owner"`
	ShortToken string `json:"shortToken"`
	// Service is a token for ServiceClient.
	ServiceClient string `json:"serviceClient"`
	Service       string `json:"service"`
	Channel       string `json:"channel"`
	Raider        string `json:"raider"`
	Viewer        string `json:"viewer"`
	// Directory is empty, and removed after the test.
	Directory string `json:"directory"`
	// Chromium is the path of the browser.
	Chromium string `json:"chromium"`
}

// site is two servers with the demo's data.
type site struct {
	given

	first   *process.Server
	second  *process.Server
	restart chan chan struct{}
	url     store.URL
}

// start starts the servers as `make run` does, with the rate limits.
func start(t *testing.T, flags ...string) *site {
	t.Helper()
	s := &site{restart: make(chan chan struct{}), url: store.URL{Path: filepath.Join(t.TempDir(), "moderato.db")}}
	s.first = process.Serve(t, s.url, append([]string{"--demo", "--demo-chat=off", fmt.Sprintf("--rate-limit=%d", server.DefaultRateLimit)}, flags...)...)
	s.Tour = s.first.Printed()
	s.second = process.Serve(t, s.url)
	cast := demo.People()
	s.ServiceClient, s.Service, s.Viewer = cast.ServiceClient, s.first.DemoToken(t, "service"), cast.Viewer.ID.String()
	control := httptest.NewServer(s.control(t))
	t.Cleanup(control.Close)
	s.Servers = []string{"http://" + s.first.REST, "http://" + s.second.REST}
	s.Control, s.Directory, s.Chromium = control.URL, t.TempDir(), installed().chromium
	s.Client, s.PublicClient, s.ConfidentialClient = cast.Client, publicClient, confidentialClient
	s.Channel, s.Raider = cast.Owner.ID.String(), cast.Raider.Username
	s.Moderator, s.Owner = s.first.DemoToken(t, "moderator"), s.first.DemoToken(t, "owner")
	client := []string{"client", "create", "--redirect-uri=http://127.0.0.1/callback",
		"--scope=users.read", "--scope=users.bot", "--scope=channel.moderate", "--scope=offline.access", "--name=Example"}
	s.Secret = s.run(t, append(client, "--secret", "--id="+confidentialClient)...)
	s.run(t, append(client, "--public", "--id="+publicClient)...)
	s.ShortToken = s.run(t, "token", "issue", "--client="+publicClient, "--user="+cast.Moderator.ID.String(), "--scope=channel.moderate")
	return s
}

// control does what a script asks for.
func (s *site) control(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /restart", func(http.ResponseWriter, *http.Request) {
		done := make(chan struct{})
		s.restart <- done
		<-done
	})
	mux.HandleFunc("POST /trigger", func(w http.ResponseWriter, r *http.Request) {
		env := []string{"MODERATO_CLIENT=" + s.ServiceClient, "MODERATO_TOKEN=" + s.Service}
		result := process.Run(t, env, "", "events", "trigger", r.FormValue("type"), "--channel="+s.Channel, "--grpc-server="+s.first.GRPC)
		if result.Code != 0 {
			http.Error(w, result.Err, http.StatusInternalServerError)
		}
	})
	return mux
}

// balance starts HAProxy before the servers with the configuration of deploy, and returns its
// address for REST.
func (s *site) balance(t *testing.T) (address string) {
	t.Helper()
	config, err := os.ReadFile("../../deploy/compose/haproxy.cfg")
	if err != nil {
		t.Fatal(err)
	}
	address = process.FreeAddress(t)
	edits := []string{"bind :8080", "bind " + address, "bind :9090", "bind " + process.FreeAddress(t), " port 9091", ""}
	for i, server := range []*process.Server{s.first, s.second} {
		name := fmt.Sprintf("moderato-%d", i+1)
		edits = append(edits, name+":8080", server.REST, name+":9090", server.GRPC)
	}
	text := strings.NewReplacer(edits...).Replace(string(config))
	process.HAProxy(t, strings.ReplaceAll(text, "option httpchk GET /readyz\n", ""), address)
	return address
}

// run runs a command of the program beside the servers, and returns what it prints.
func (s *site) run(t *testing.T, args ...string) string {
	t.Helper()
	result := process.Run(t, nil, "", append(args, process.DBFlag(s.url))...)
	if result.Code != 0 {
		t.Fatalf("%q exits with %d: %s", args, result.Code, result.Err)
	}
	return strings.TrimSpace(result.Out)
}

// script runs a script of this directory, and restarts the first server when it asks.
func (s *site) script(t *testing.T, name string) {
	t.Helper()
	parameters, err := json.Marshal(s.given)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", name)
	cmd.Env = append(os.Environ(), "GIVEN="+string(parameters))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var before string           // what the first server said before it was restarted
	deadline, _ := t.Deadline() // `go test` always has one, unless it is told otherwise
	late := time.After(time.Until(deadline) - time.Minute)
	for {
		select {
		case done := <-s.restart:
			s.first.Terminate()
			before += s.first.Log()
			s.first = process.Serve(t, s.url, "--http-addr="+s.first.REST)
			close(done)
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v\n%s\nThe first server says:\n%s", name, err, out.String(), before+s.first.Log())
			}
			t.Log(out.String()) // the figures of a soak
			return
		case <-late:
			_ = cmd.Process.Kill()
			t.Fatalf("%s takes too long: %v\n%s", name, <-ended, out.String())
		}
	}
}

// programs are the clients that are installed.
type programs struct {
	chromium string
	// missing names those that are not installed.
	missing error
}

var installed = sync.OnceValue(func() (p programs) {
	_, noNode := exec.LookPath("node")
	_, noModules := os.Stat("node_modules/.package-lock.json")
	_, noConsole := os.Stat("../../console/node_modules/.package-lock.json")
	chromium, noChromium := exec.LookPath("chromium")
	p.chromium = chromium
	if err := errors.Join(noNode, noModules, noConsole, noChromium); err != nil {
		p.missing = fmt.Errorf("no test with real clients: %w\n`make clients` installs them", err)
	}
	if p.missing != nil && os.Getenv("CI") != "true" {
		storetest.Announce(p.missing)
	}
	return p
})

// needClients skips the test if a client is not installed. With CI=true the test fails.
func needClients(t *testing.T) {
	t.Helper()
	switch missing := installed().missing; {
	case missing == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(missing)
	default:
		t.Skip(missing)
	}
}

func TestOpenIDClient(t *testing.T) {
	needClients(t)
	t.Parallel()
	start(t).script(t, "oauth.mjs")
}

func TestExistingClients(t *testing.T) {
	needClients(t)
	t.Parallel()
	start(t).script(t, "existing.mjs")
}

func TestSocketIOClient(t *testing.T) {
	needClients(t)
	t.Parallel()
	s := start(t)
	s.Proxy = "http://" + s.balance(t)
	s.script(t, "socketio.mjs")
}

func TestChromium(t *testing.T) {
	needClients(t)
	t.Parallel()
	s := start(t)
	s.script(t, "browser.mjs")
	s.script(t, "docs.mjs")
}

func TestConsole(t *testing.T) {
	needClients(t)
	t.Parallel()
	s := start(t)
	s.script(t, "console-screens.mjs")
	s.script(t, "console-rules.mjs")
	s.script(t, "console.mjs")
}

// TestConsoleReducers tests the parts of the console that need no browser.
func TestConsoleReducers(t *testing.T) {
	needClients(t)
	t.Parallel()
	files, err := filepath.Glob("../../console/test/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), "node", append([]string{"--test"}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestConsoleSoak watches a busy chat for MODERATO_CONSOLE_SOAK minutes. See make console-soak.
func TestConsoleSoak(t *testing.T) {
	minutes := os.Getenv("MODERATO_CONSOLE_SOAK")
	if minutes == "" {
		t.Skip("no time given")
	}
	needClients(t)
	t.Setenv("SOAK_MINUTES", minutes)
	start(t, "--chat-rate=0", "--rate-limit=0").script(t, "console-soak.mjs")
}

func TestOverlay(t *testing.T) {
	needClients(t)
	t.Parallel()
	start(t).script(t, "overlay.mjs")
}
