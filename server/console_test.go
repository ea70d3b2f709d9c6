package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/moderato-live/moderato/ent/application"
	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestConsoleIsServed asks a server for its console: it is configured as the server is, and no
// page of another origin may read it.
func TestConsoleIsServed(t *testing.T) {
	t.Parallel()
	config := servertest.Config(storetest.SQLite(t))
	config.PublicURL = "https://api.example.com"
	config.PictureOrigins = []string{"https://cdn.example.com"}
	s := servertest.Start(t, config)
	r := s.Request(t, servertest.Credentials{}, http.MethodGet, "/console/", "")
	r.Header.Set("Origin", "https://elsewhere.example")
	got := s.Do(t, r)
	for _, want := range []string{
		`<meta name="picture-origins" content="https://api.example.com https://cdn.example.com">`, `<meta name="sign-in" content="off">`,
	} {
		if got.Status != http.StatusOK || !strings.Contains(got.Body, want) {
			t.Errorf("got %d, want %s in\n%s", got.Status, want, got.Body)
		}
	}
	if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "img-src 'self' https://api.example.com https://cdn.example.com;") {
		t.Errorf("the policy is %s", policy)
	}
	if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
		t.Errorf("Access-Control-Allow-Origin is %q", allowed)
	}
	if r := s.Do(t, s.Request(t, servertest.Credentials{}, http.MethodPost, "/console/", "")); r.Status != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %d, want 405", r.Status)
	}
}

// TestConsoleKnowsWhetherOneCanSignIn starts servers with and without what the console's sign-in
// needs.
func TestConsoleKnowsWhetherOneCanSignIn(t *testing.T) {
	t.Parallel()
	demo := []signin.DemoUser{{ID: servertest.Owner, Name: "Ines", Role: "owner"}}
	for _, c := range []struct {
		name, loginURL, publicURL string
		demo                      []signin.DemoUser
		want                      bool
	}{
		{"a platform", "https://login.example.com/", "https://api.example.com", nil, true},
		{"no public URL", "https://login.example.com/", "", nil, false},
		{"no sign-in page", "", "https://api.example.com", nil, false},
		{"a demo", "", "", demo, true},
		{"a demo with another sign-in page", "https://login.example.com/", "", demo, false},
	} {
		config := servertest.Config(storetest.SQLite(t))
		config.LoginURL, config.PublicURL, config.DemoUsers = c.loginURL, c.publicURL, c.demo
		s := servertest.Start(t, config)
		page := s.Do(t, s.Request(t, servertest.Credentials{}, http.MethodGet, "/console/", "")).Body
		if got := !strings.Contains(page, `name="sign-in" content="off"`); got != c.want {
			t.Errorf("%s: the page offers a sign-in: %t, want %t", c.name, got, c.want)
		}
		if exists := storetest.Must(s.Store.Read.Application.Query().Where(application.ID(access.Console)).Exist(t.Context())); exists != c.want {
			t.Errorf("%s: the client exists: %t, want %t", c.name, exists, c.want)
		}
	}
}
