package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/test/doctest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// TestSampleSignInPage signs a user in through docs/sign-in, up to the tokens, and refuses a
// client and approves a device.
func TestSampleSignInPage(t *testing.T) {
	t.Parallel()
	address := process.FreeAddress(t)
	w := newWorkplace(t, "--login-url=http://"+address+"/")
	program := filepath.Join(w.directory, "bin", "sign-in")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./docs/sign-in")
	build.Dir = doctest.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := strings.NewReplacer("go run ./docs/sign-in", "exec "+program+" -listen "+address+" -server "+w.GRPC,
		"-name '", "-name '<b>").Replace(block(t, "docs/oauth.md: A sample page/1"))
	listen(t, w.command(t, text)).until(t, "the page is at")
	tour := w.Printed()
	start := regexp.MustCompile(`(?m)^http://\S+/oauth2/authorize\S+$`).FindString(tour)

	wantProtected(t, start)
	if page, _ := process.Submit(t, start, "", "deny"); !strings.Contains(page, "got no access") {
		t.Errorf("a refusal leads to\n%s", page)
	}
	page, _ := process.Submit(t, start, "", "approve")
	code := regexp.MustCompile(`The code is <code>(.*)</code>`).FindStringSubmatch(page)
	if code == nil {
		t.Fatalf("an approval leads to\n%s", page)
	}
	exchange := w.command(t, regexp.MustCompile(`(?m)^printf .*$`).FindString(tour))
	exchange.Stdin = strings.NewReader(code[1] + "\n")
	if out, err := exchange.Output(); err != nil || !strings.Contains(string(out), `"accessToken":"mdu_`) || !strings.Contains(string(out), demoOwner) {
		t.Errorf("the exchange prints %s (%v)", out, err)
	}

	var device struct {
		Address string `json:"verification_uri_complete"`
	}
	if err := json.Unmarshal([]byte(w.run(t, block(t, "docs/oauth.md: Sign in on a command line/1"))), &device); err != nil {
		t.Fatal(err)
	}
	if page, _ := process.Submit(t, device.Address, "", "approve"); !strings.Contains(page, "The device continues by itself") {
		t.Errorf("an approval of a device leads to\n%s", page)
	}
}

// wantProtected looks at the page of a sign-in: it escapes texts, is in no frame and in no cache,
// and refuses a form that is not its own.
func wantProtected(t *testing.T, start string) {
	t.Helper()
	response, err := http.Get(start)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(page), "&lt;b&gt;") || strings.Contains(string(page), "<b>") {
		t.Errorf("the page does not escape the name (%v):\n%s", err, page)
	}
	if response.Header.Get("Cache-Control") != "no-store" || !strings.Contains(response.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("the page has the header %v", response.Header)
	}
	field := func(name string) string {
		m := regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(string(page))
		if m == nil {
			t.Fatalf("the page has no %s:\n%s", name, page)
		}
		return m[1]
	}
	for name, form := range map[string]url.Values{
		"no token":              {"request": {field("request")}},
		"the token of another":  {"request": {"another"}, "csrf": {field("csrf")}},
		"a token that is wrong": {"request": {field("request")}, "csrf": {strings.Repeat("0", 64)}},
	} {
		form.Set("action", "deny")
		refused, err := http.PostForm(response.Request.URL.String(), form)
		if err != nil {
			t.Fatal(err)
		}
		if _ = refused.Body.Close(); refused.StatusCode != http.StatusForbidden {
			t.Errorf("%s: got %s", name, refused.Status)
		}
	}
}
