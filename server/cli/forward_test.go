package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	moderato "github.com/moderato-live/moderato/clients/go"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// request is a delivery as a local receiver got it.
type request struct {
	header http.Header
	body   []byte
}

// localReceiver starts a receiver that refuses the first delivery.
func localReceiver(t *testing.T) (url string, received chan request) {
	t.Helper()
	received = make(chan request, 10)
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- request{r.Header, body}
		if n++; n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("busy"))
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/hook", received
}

// TestReceiverForwards checks that a local receiver can verify each delivery, and that its
// answer is the outcome of the delivery.
func TestReceiverForwards(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	local, received := localReceiver(t)
	l, _ := receiving(t, p, token, "--type=channel.ban", "--forward-to="+local)
	said := l.until(t, "deliveries are sent on to "+local)
	secret := regexp.MustCompile(`whsec_\S+`).FindString(said[len(said)-1])
	receiver, err := moderato.NewReceiver(secret)
	if err != nil {
		t.Fatal(err)
	}
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", banOfRaider)
	l.until(t, "channel.ban")
	l.until(t, "-> "+local+": 503 Service Unavailable in ")
	untilDelivered(t, p, token, 503)
	l.until(t, "(attempt 2)")
	for range 2 {
		r := <-received
		d, err := receiver.Verify(r.body, r.header)
		if err != nil || d.Cursor == "" || d.Event.GetBan() == nil {
			t.Errorf("the receiver gets %v with %s: %v", r.header, r.body, err)
		}
		if agent, kind := r.header.Get("User-Agent"), r.header.Get("Content-Type"); agent != "Moderato" || kind != "application/json" {
			t.Errorf("the headers are changed: %v", r.header)
		}
	}
	untilDelivered(t, p, token, 202)
}

// TestReceiverSignsWithSecret checks that a receiver keeps its secret, and that the secret
// is not printed.
func TestReceiverSignsWithSecret(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	local, received := localReceiver(t)
	const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	l, _ := receiving(t, p, token, "--type=channel.ban", "--forward-to="+local, "--secret="+secret)
	said := l.until(t, "with the secret that was given")
	receiver, err := moderato.NewReceiver(secret)
	if err != nil {
		t.Fatal(err)
	}
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", banOfRaider)
	r := <-received
	if _, err := receiver.Verify(r.body, r.header); err != nil {
		t.Errorf("the receiver refuses %v: %v", r.header, err)
	}
	if said = append(said, l.until(t, "503 Service Unavailable")...); strings.Contains(strings.Join(said, ""), secret) {
		t.Errorf("the secret is printed: %q", said)
	}
}

func TestReceiverRefusesSecret(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"whsec_", "whsec_not base64!", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="} {
		got := refused(t, "events", "receive", "--client=x", "--token=x", "--forward-to=http://127.0.0.1:1", "--secret="+secret)
		if !strings.Contains(got, "--secret must be whsec_ and the base64 of a key") || (secret != "whsec_" && strings.Contains(got, secret)) {
			t.Errorf("%q: it prints %s", secret, got)
		}
	}
}

func TestReceiverReportsUnreachableReceiver(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	l, _ := receiving(t, p, token, "--type=channel.ban", "--forward-to=http://127.0.0.1:1/")
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", banOfRaider)
	said := l.until(t, "connection refused")
	if line := said[len(said)-1]; !strings.HasSuffix(line, "connection refused; the server repeats the delivery later") {
		t.Errorf("it prints %q", line)
	}
	untilDelivered(t, p, token, 502)
}

func TestReceiverRefusesForwardAddress(t *testing.T) {
	t.Parallel()
	got := refused(t, "events", "receive", "--client=x", "--token=x", "--forward-to=localhost:3000")
	if !strings.Contains(got, "such as http://127.0.0.1:3000/webhook") {
		t.Errorf("it prints %s", got)
	}
}

// untilDelivered waits until the server recorded a status for the last attempt of the only
// delivery.
func untilDelivered(t *testing.T, p *process.Server, token string, want int) {
	t.Helper()
	var hooks struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(rest(t, p, token, http.MethodGet, "/v1/webhooks", "")), &hooks); err != nil || len(hooks.Data) != 1 {
		t.Fatalf("%v: %v", hooks, err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var deliveries struct {
			Data struct{ Rows []struct{ LastStatus *int } }
		}
		text := rest(t, p, token, http.MethodGet, "/v1/webhooks/deliveries?webhookId="+hooks.Data[0].ID, "")
		if err := json.Unmarshal([]byte(text), &deliveries); err != nil {
			t.Fatal(err)
		}
		if rows := deliveries.Data.Rows; len(rows) == 1 && rows[0].LastStatus != nil && *rows[0].LastStatus == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the status is not %d: %s", want, text)
		}
	}
}
