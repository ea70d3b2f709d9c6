package clients_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
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
	token := regexp.MustCompile(`(?m)^  moderator  (\S+)`).FindStringSubmatch(s.Printed())[1]
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
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", origin.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	select {
	case got := <-reports:
		if want := demo.People().Moderator.DisplayName + " true 43"; got != want {
			t.Errorf("the page reports %q, want %q", got, want)
		}
	case <-time.After(programTimeout):
		t.Fatal("the page reports nothing")
	}
}
