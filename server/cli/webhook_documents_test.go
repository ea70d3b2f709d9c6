package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/test/storetest"
	"github.com/moderato-live/moderato/test/testdb"
)

// terminal is a shell that runs one block of commands after the other, with the variables
// and functions of the earlier ones.
type terminal struct {
	*listener

	input io.Writer
	// replace replaces the addresses of the documents.
	replace *strings.Replacer
	blocks  int
}

// open opens a terminal in the workplace.
func (w *workplace) open(t *testing.T, replace *strings.Replacer) *terminal {
	t.Helper()
	cmd := w.command(t, "exec bash -euo pipefail")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return &terminal{listener: listen(t, cmd), input: input, replace: replace}
}

// run runs a block of commands, and returns what it prints.
func (l *terminal) run(t *testing.T, commands string) string {
	t.Helper()
	l.blocks++
	end := fmt.Sprintf("end of block %d", l.blocks)
	if _, err := fmt.Fprintf(l.input, "%s\necho %s\n", l.replace.Replace(commands), end); err != nil {
		t.Fatal(err)
	}
	return strings.Join(l.until(t, end), "\n")
}

// documentedReceiver is a receiver of docs/webhooks.md.
type documentedReceiver struct{ heading, file, program string }

// isInstalled reports whether the program that runs the receiver is installed. In CI the
// test fails otherwise.
func (r documentedReceiver) isInstalled(t *testing.T) bool {
	t.Helper()
	_, err := exec.LookPath(r.program)
	if err == nil {
		return true
	}
	err = fmt.Errorf("the receiver of docs/webhooks.md is not tested: %w; tools/install-test-tools installs %s", err, r.program)
	if testdb.IsRequired() {
		t.Fatal(err)
	}
	storetest.Announce(err)
	return false
}

// TestWebhookCommands follows docs/webhooks.md from the creation of a webhook to its
// deletion, with the receiver in each language.
func TestWebhookCommands(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	for _, r := range []documentedReceiver{
		{"A receiver in JavaScript", "receiver.mjs", "node"},
		{"A receiver in Python", "receiver.py", "python3"},
	} {
		t.Run(r.program, func(t *testing.T) {
			if !r.isInstalled(t) {
				t.Skip(r.program + " is not installed")
			}
			testWebhookCommands(t, w, r)
		})
	}
}

func testWebhookCommands(t *testing.T, w *workplace, r documentedReceiver) {
	t.Helper()
	address := unusedAddress(t)
	_, port, _ := net.SplitHostPort(address)
	replace := strings.NewReplacer("127.0.0.1:8080", w.REST, "9999", port)
	user := w.open(t, replace)
	created := user.run(t, block(t, "docs/webhooks.md: A first delivery/1"))
	var answer struct{ Data struct{ Secret string } }
	_, created, _ = strings.Cut(created, "{") // after whose token it is
	created, _, _ = strings.Cut("{"+created, "\n")
	if err := json.Unmarshal([]byte(created), &answer); err != nil || !strings.HasPrefix(answer.Data.Secret, "whsec_") {
		t.Fatalf("the command prints %s (%v)", created, err)
	}
	program := replace.Replace(block(t, "docs/webhooks.md: "+r.heading+"/1"))
	if err := os.WriteFile(filepath.Join(w.directory, r.file), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	receiver := listen(t, w.command(t, block(t, "docs/webhooks.md: "+r.heading+"/2")))
	receiver.until(t, "Receiving at http://"+address+"/")

	user.run(t, block(t, "docs/webhooks.md: The delivery/1"))
	receiver.until(t, `channel.ban {"channelId":`)
	testVerification(t, "http://"+address+"/", answer.Data.Secret)

	deliveries := ""
	for deadline := time.Now().Add(patience); !strings.Contains(deliveries, `"status":"delivered","attempts":1`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the deliveries are %s", deliveries)
		}
		deliveries = user.run(t, block(t, "docs/webhooks.md: The delivery/2"))
	}
	if out := user.run(t, block(t, "docs/webhooks.md: The delivery/3")); !strings.Contains(out, `{"success":true,"message":"success"}`) {
		t.Errorf("the webhook is not deleted: %s", out)
	}
	receiver.signal(syscall.SIGKILL)
}

// unusedAddress returns an address at which a receiver can listen.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// testVerification sends deliveries to a receiver that verifies them with a secret.
func testVerification(t *testing.T, url, secret string) {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"metadata":{"subscriptionType":"channel.ban"},"payload":{}}`
	sign := func(at time.Time) string {
		signature, err := signer.Sign("msg_1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	now, old := time.Now(), time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name, signature, body string
		sentAt                time.Time
		want                  int
	}{
		{"a delivery", "v1,AAAA " + sign(now), body, now, http.StatusNoContent},
		{"another body", sign(now), "[]", now, http.StatusUnauthorized},
		{"an old delivery", sign(old), body, old, http.StatusUnauthorized},
		{"no signature", "", body, now, http.StatusUnauthorized},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.signature != "" {
			request.Header.Set("webhook-id", "msg_1")
			request.Header.Set("webhook-timestamp", fmt.Sprint(c.sentAt.Unix()))
			request.Header.Set("webhook-signature", c.signature)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != c.want {
			t.Errorf("%s: got %d, want %d", c.name, response.StatusCode, c.want)
		}
	}
}

// TestChatRulesExamples runs the examples of docs/chat-rules.md in one terminal.
func TestChatRulesExamples(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	user := w.open(t, strings.NewReplacer("127.0.0.1:8080", w.REST))
	out := user.run(t, block(t, "docs/chat-rules.md: Examples/1"))
	for want, times := range map[string]int{`{"success":true,`: 4, `"restriction":"emote","retryAt":"`: 1, `"timed":[{"setting":"emoteOnly","endsAt":"`: 2} {
		if n := strings.Count(out, want); n != times {
			t.Errorf("the commands print %s %d times, want %d:\n%s", want, n, times, out)
		}
	}
	rules := user.run(t, block(t, "docs/chat-rules.md: Rules/1"))
	for _, want := range []string{`"examined":2,"matched":1,`, `"data":{"version":2,"rules":[{"ruleId":"`, `"data":{"rows":[{"version":2,"moderator":{"id":"`, `"data":{"version":3,"rules":[{"ruleId":"`} {
		if !strings.Contains(rules, want) {
			t.Errorf("the commands do not print %s:\n%s", want, rules)
		}
	}
	shield := user.run(t, block(t, "docs/chat-rules.md: Shield/1"))
	for _, want := range []string{`"autoStart":{"followsPerMinute":200,`, `"cause":"moderator"`, `"slowSeconds":10,"followersOnlySeconds":600,`, `"shieldActive":true`, `{"active":false,`} {
		if !strings.Contains(shield, want) {
			t.Errorf("the commands do not print %s:\n%s", want, shield)
		}
	}
}

// TestModerationExamples runs the examples of docs/moderation.md in one terminal.
func TestModerationExamples(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	user := w.open(t, strings.NewReplacer("127.0.0.1:8080", w.REST))
	single := user.run(t, block(t, "docs/moderation.md: Examples/1"))
	if n := strings.Count(single, `{"success":true,`); n != 6 || !strings.Contains(single, `"account":{`) || !strings.Contains(single, `"reason":"Spam"`) || !strings.Contains(single, `"evidence":[{`) {
		t.Errorf("%d of 6 commands succeed:\n%s", n, single)
	}
	batch := user.run(t, block(t, "docs/moderation.md: Examples/2"))
	for _, want := range []string{
		`"batchId":null,"counts":{"banned":1,"alreadyBanned":0,"userNotFound":1,`,
		`"username":"` + demo.People().Viewer.Username + `","status":"BANNED"},{"userId":null,"username":"nobody.of.this.name","status":"USER_NOT_FOUND"}`,
		`"counts":{"unbanned":1,"changed":0,"notBanned":0,"restored":0}`,
	} {
		if !strings.Contains(batch, want) {
			t.Errorf("the commands do not print %s:\n%s", want, batch)
		}
	}
	search := user.run(t, block(t, "docs/moderation.md: Search among people/1"))
	for want, times := range map[string]int{`"cause":"batch"}],"pagination":{"cursor":""}`: 2, `"mutedBy":{`: 1, `"role":"moderator"`: 1} {
		if n := strings.Count(search, want); n != times {
			t.Errorf("the commands print %s %d times, want %d:\n%s", want, n, times, search)
		}
	}
	metrics := user.run(t, block(t, "docs/moderation.md: Metrics/1"))
	if !strings.Contains(metrics, `"data":{"rows":[{"startedAt":"`) {
		t.Errorf("the command prints no metrics:\n%s", metrics)
	}
	if log := user.run(t, block(t, "docs/moderation.md: The log/1")); strings.Count(log, `"cause":"batch"`) != 1 {
		t.Errorf("the commands print no ban of a batch:\n%s", log)
	}
}
