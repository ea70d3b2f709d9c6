package process

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/server/uid"
)

// Visit opens a page, which must answer 200, and posts a form to it if there is one. It
// returns the page that follows and its address.
func Visit(t *testing.T, browser *http.Client, address string, form url.Values) (page, at string) {
	t.Helper()
	page, at = load(t, browser, http.MethodGet, address, "")
	if form == nil {
		return page, at
	}
	return load(t, browser, http.MethodPost, address, form.Encode())
}

func load(t *testing.T, browser *http.Client, method, address, form string) (page, at string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", address, response.StatusCode, body, err)
	}
	return string(body), response.Request.URL.String()
}

// ApproveDevice signs in to the demo as a user, on the page that a device shows, and
// approves what the device asks for.
func ApproveDevice(t *testing.T, address string, user uid.ID) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	page, at := Visit(t, &browser, address, nil)
	for _, action := range []string{"sign-in", "approve"} {
		form := url.Values{"action": {action}}
		for _, m := range regexp.MustCompile(`name="(csrf|user_code|scope)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			form.Add(m[1], m[2])
		}
		form.Set("user", user.String())
		page, at = Visit(t, &browser, at, form)
	}
	if !strings.Contains(page, "The device continues by itself") {
		t.Fatalf("the approval shows\n%s", page)
	}
}
