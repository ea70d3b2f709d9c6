package clients_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/demo"
)

// page calls the API from another origin, and reports what happened.
const page = `<!doctype html><script type="module">
import { Moderato } from '/node_modules/@moderato-live/client/dist/index.js'
const report = (body) => fetch('/report', { method: 'POST', body })
try {
  const moderato = new Moderato({ baseUrl: %q, clientId: %q, tokens: { accessToken: %q } })
  const { displayName } = await moderato.users.getProfile()
  const stream = await moderato.events.listen()
  const { codeVerifier } = await moderato.auth.startSignIn({ redirectUri: location.href, scopes: ['users.read'] })
  await report(displayName + ' ' + (stream.cursor !== '') + ' ' + codeVerifier.length)
} catch (error) {
  await report(String(error))
}
</script>`

// testBrowser loads the installed package in Chromium.
func testBrowser(t *testing.T, s site, directory string) {
	t.Helper()
	library{"typescript", "", []string{"chromium"}}.need(t)
	token := s.DemoToken(t, "moderator")
	reports := make(chan string, 1)
	files := http.FileServer(http.Dir(directory))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = fmt.Fprintf(w, page, "http://"+s.REST, demo.People().Client, token)
		case "/report":
			text, _ := io.ReadAll(r.Body)
			reports <- string(text)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer origin.Close()
	open(t, origin.URL)
	select {
	case got := <-reports:
		if want := demo.People().Moderator.DisplayName + " true 43"; got != want {
			t.Errorf("the page reports %q, want %q", got, want)
		}
	case <-time.After(programTimeout):
		t.Fatal("the page reports nothing")
	}
}

// open opens a page in Chromium until the test ends.
func open(t *testing.T, url string) {
	t.Helper()
	profile := t.TempDir() // removed after the cleanup below
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-port=0", url)
	// Chromium consists of many processes, which write to the profile until they end. They
	// are one process group. As they also share a pipe, Wait waits for all of them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var printed bytes.Buffer
	cmd.Stderr = &printed
	cmd.WaitDelay = programTimeout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("Chromium printed:\n%s", printed.String())
		}
	})
}
