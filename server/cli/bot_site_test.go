package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/demo"
)

// call calls an operation with a token, and returns the status and the body. The error is
// that of the connection.
func (d *demoSite) call(method, path, client, token string, body object) (int, string, error) {
	text := []byte{}
	if body != nil {
		text, _ = json.Marshal(body) // strings only: it cannot fail
	}
	r, err := http.NewRequest(method, "http://"+d.REST+path, bytes.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	r.Header = http.Header{"Client-Id": {client}, "Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

type object map[string]any

// post posts a message in the name of a user.
func (d *demoSite) post(user demo.Person, message string) (int, string, error) {
	cast := demo.People()
	return d.call(http.MethodPost, "/v1/chats/messages", cast.ServiceClient, d.service,
		object{"channelId": cast.Owner.ID.String(), "senderId": user.ID.String(), "message": message})
}

// ban bans a user as the moderator.
func (d *demoSite) ban(t *testing.T, user string) {
	t.Helper()
	cast := demo.People()
	status, answer, err := d.call(http.MethodPost, "/v1/moderation/ban", cast.Client, d.moderator,
		object{"channelId": cast.Owner.ID.String(), "banUserId": user})
	if status != http.StatusOK {
		t.Fatalf("ban: %d %s, %v", status, answer, err)
	}
}

// listen opens an event stream of the moderator and reads up to a line that matches a
// pattern. It returns the pattern's first group.
func (d *demoSite) listen(t *testing.T, cursor, pattern string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cast := demo.People()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.REST+"/v1/events?channelId="+cast.Owner.ID.String()+"&cursor="+cursor, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Client-Id": {cast.Client}, "Authorization": {"Bearer " + d.moderator}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	re := regexp.MustCompile(pattern)
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if found := re.FindStringSubmatch(lines.Text()); found != nil {
			return found[len(found)-1]
		}
	}
	t.Fatalf("the event stream has no line that matches %q", pattern)
	return ""
}

// untilRefreshed waits until the program has refreshed its access token since the server
// was started.
func (d *demoSite) untilRefreshed(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(d.Log(), `"method":"/oauth2/token"`); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program does not refresh its access token")
		}
	}
}

// greet posts `!hello` as a user until the answer of the bot is in the chat. It repeats
// the post, because the bot may not be connected yet, and chat is live only.
func (d *demoSite) greet(t *testing.T, user, bot demo.Person) {
	t.Helper()
	cast := demo.People()
	list := "/v1/chats/messages?channelId=" + cast.Owner.ID.String() + "&userId=" + bot.ID.String()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if status, answer, err := d.post(user, "!hello"); status != http.StatusOK {
			t.Fatalf("!hello: %d %s, %v; the server says\n%s", status, answer, err, d.Log())
		}
		for range 10 {
			if _, answer, _ := d.call(http.MethodGet, list, cast.Client, d.moderator, nil); strings.Contains(answer, `"Hello, `+user.DisplayName+`!"`) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	t.Fatalf("the bot does not answer %s", user.DisplayName)
}

// untilBanned posts a forbidden word as a user until the user is banned.
func (d *demoSite) untilBanned(t *testing.T, user demo.Person) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, answer, _ := d.post(user, "Get FREE followers at example.com"); strings.Contains(answer, "USER_BANNED") {
			return
		}
	}
	t.Fatalf("the bot does not ban %s", user.DisplayName)
}
