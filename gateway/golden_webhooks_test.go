package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// random maps the parts of responses about webhooks that differ at every run to the
// placeholders in the golden files.
var random = []struct {
	form *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`whsec_[0-9A-Za-z+/=]{44}"`), `whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="`},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "https://hooks.example.com"},
}

func TestWebhookOperationsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	if *update {
		goldenWebhooks(t, storetest.SQLite(t))
		return
	}
	storetest.Each(t, goldenWebhooks)
}

func goldenWebhooks(t *testing.T, url store.URL) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer receiver.Close()
	config := servertest.Config(url)
	config.DefaultAvatarURL = "https://img.example.com/default.svg"
	config.WebhookAllowPrivate = true
	s := servertest.Start(t, config)
	s.Load(t, servertest.World()...)
	s.Store.Clock.Freeze(goldenNow)
	owner := s.As(t, servertest.Owner)
	var hasFile []string
	ask := func(name, method, path, body string) string {
		request := s.Request(t, owner, method, path, body)
		request.Header.Set(requestid.Header, name)
		r := s.Do(t, request)
		wantJSON(t, r)
		original := r.Body
		for _, x := range random {
			r.Body = x.form.ReplaceAllString(r.Body, x.text)
		}
		golden(t, name, r)
		if r.Status == http.StatusOK {
			o := operationAt(t, method, path)
			hasFile = append(hasFile, o.rpc)
			wantFields(t, o, r)
		}
		return original
	}
	var created struct{ Data struct{ ID string } }
	text := ask("create_webhook", "POST", webhooksPath, `{"url":"`+receiver.URL+`/moderato","type":["channel.update"]}`)
	if err := json.Unmarshal([]byte(text), &created); err != nil {
		t.Fatal(err)
	}
	id := created.Data.ID
	wantOK(t, s.REST(t, owner, "POST", "/v1/channels/info", `{"title":"A new title","lang":"en"}`))
	event := deliveredEvent(t, s, owner, id)
	ask("list_webhook_deliveries", "GET", webhooksPath+"/deliveries?webhookId="+id, "")
	ask("list_webhooks", "GET", webhooksPath, "")
	ask("rotate_webhook_secret", "POST", webhooksPath+"/rotate-secret", args("webhookId", id))
	ask("redeliver_webhook_event", "POST", webhooksPath+"/redeliver", args("webhookId", id, "eventId", event))
	ask("enable_webhook", "POST", webhooksPath+"/enable", args("webhookId", id))
	ask("delete_webhook", "DELETE", webhooksPath, args("webhookId", id))
	ask("error_webhook_not_found", "DELETE", webhooksPath, args("webhookId", id))
	for _, o := range webhookOperations {
		if !slices.Contains(hasFile, o.rpc) {
			t.Errorf("%s has no golden file", o.rpc)
		}
	}
}

// deliveredEvent waits until an event was delivered, and returns the id of the event.
func deliveredEvent(t *testing.T, s *servertest.Server, c servertest.Credentials, webhook string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var page struct {
			Data struct {
				Rows []struct{ EventID, Status string }
			}
		}
		r := s.REST(t, c, "GET", webhooksPath+"/deliveries?webhookId="+webhook, "")
		if err := json.Unmarshal([]byte(r.Body), &page); err != nil {
			t.Fatal(err)
		}
		if rows := page.Data.Rows; len(rows) == 1 && rows[0].Status == "delivered" {
			return rows[0].EventID
		}
	}
	t.Fatal("nothing was delivered")
	return ""
}
