package cli_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
)

// ownerToken returns a token of the owner of the World's channel, issued to Dashboard.
func ownerToken(t *testing.T, db *store.Store) string {
	t.Helper()
	issued, err := authn.Issue(context.Background(), db, authn.NewToken{
		Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: authn.Scopes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return issued.Text
}

// banOfRaider is the body that bans, or with DELETE unbans, in the World's channel.
var banOfRaider = `{"channelId":"` + servertest.Owner.String() + `","banUserId":"` + servertest.Raider.String() + `"}`

// rest makes a call with a token of Dashboard, which must succeed, and returns its body.
func rest(t *testing.T, p *process.Server, token, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.REST+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("client-id", servertest.Dashboard)
	if body != "" {
		r.Header.Set("content-type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s (%v)", method, path, response.StatusCode, text, err)
	}
	return string(text)
}

// status requests the moderators of the World's channel, and returns the status code.
func status(t *testing.T, p *process.Server, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+p.REST+"/v1/moderation/moderators?channelId="+servertest.Owner.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("client-id", "bot")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// statusAfterRevocation repeats the request until the token is refused, for as long as a
// revocation may take to reach every server.
func statusAfterRevocation(t *testing.T, p *process.Server, token string) int {
	t.Helper()
	deadline := time.Now().Add(2 * time.Second)
	for {
		got := status(t, p, token)
		if got != http.StatusOK || time.Now().After(deadline) {
			return got
		}
		time.Sleep(50 * time.Millisecond)
	}
}
