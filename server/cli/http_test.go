package cli_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/servertest"
)

// status asks for the moderators of the World's channel with a token.
func status(t *testing.T, p *process, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+p.rest+"/v1/moderation/moderators?channelId="+servertest.Owner.String(), nil)
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

// statusAfterRevocation asks until the token is refused, for as long as a
// revocation may take to reach every server.
func statusAfterRevocation(t *testing.T, p *process, token string) int {
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
