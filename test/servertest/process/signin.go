package process

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/internal/uid"
)

var approvedFields = regexp.MustCompile(`name="(csrf|user_code|request|scope)" value="([^"]*)"`)

// Approve signs in as a user on the demo's sign-in page, and approves all that a client asks
// for, as a person would. The address is where a sign-in of a browser or a device begins.
// Approve returns the page that is shown then, and where.
func Approve(t *testing.T, address, user string) (page, at string) {
	t.Helper()
	return Submit(t, address, user, "sign-in", "approve")
}

// Submit sends the forms of a sign-in page, one after the other, each with its action. It
// returns the page that is shown then, and where.
func Submit(t *testing.T, address, user string, actions ...string) (page, at string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	page, at = visit(t, browser, http.MethodGet, address, nil)
	for _, action := range actions {
		form := url.Values{"action": {action}, "user": {user}}
		for _, m := range approvedFields.FindAllStringSubmatch(page, -1) {
			form.Add(m[1], m[2])
		}
		page, at = visit(t, browser, http.MethodPost, at, form)
	}
	return page, at
}

// visit gets a page, or sends a form to it, and returns what is shown then, and where.
func visit(t *testing.T, browser *http.Client, method, address string, form url.Values) (page, at string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
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

// ApproveDevice is Approve for a device, and checks that the device may continue.
func ApproveDevice(t *testing.T, address string, user uid.ID) {
	t.Helper()
	if page, _ := Approve(t, address, user.String()); !strings.Contains(page, "The device continues by itself") {
		t.Fatalf("the approval shows\n%s", page)
	}
}
