package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// receiving starts `moderato events receive` as the owner of the World's channel, and
// waits until its webhook exists.
func receiving(t *testing.T, p *process.Server, token string, args ...string) (l *listener, address string) {
	t.Helper()
	args = append([]string{"events", "receive", "--server=http://" + p.REST}, args...)
	l = listen(t, process.Command(t, []string{"MODERATO_CLIENT=" + servertest.Dashboard, "MODERATO_TOKEN=" + token}, args...))
	said := l.until(t, "Ctrl-C deletes it")
	found := regexp.MustCompile(`webhook [0-9a-f-]{36} sends to (http://127\.0\.0\.1:\d+);`).FindStringSubmatch(said[len(said)-1])
	if found == nil {
		t.Fatalf("output: %q", said)
	}
	return l, found[1]
}

// webhooksOf returns the number of webhooks of the caller.
func webhooksOf(t *testing.T, p *process.Server, token string) int {
	t.Helper()
	var answer struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(rest(t, p, token, http.MethodGet, "/v1/webhooks", "")), &answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Data)
}

func TestReceiverDeletesWebhookOnExit(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		l, _ := receiving(t, p, token)
		if n := webhooksOf(t, p, token); n != 1 {
			t.Fatalf("%d webhooks while it receives, want 1", n)
		}
		if code := l.signal(signal); code != 0 {
			t.Errorf("%s: exit code %d, want 0", signal, code)
		}
		if n := webhooksOf(t, p, token); n != 0 {
			t.Errorf("%d webhooks after %s, want none", n, signal)
		}
	}
}

// TestReceiverUsesWebhookOfKilledOne starts a receiver like one that was killed, whose webhook was
// disabled meanwhile.
func TestReceiverUsesWebhookOfKilledOne(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	s := prepare(t, url)
	token := ownerToken(t, s)
	p := process.Serve(t, url, "--webhook-allow-private")
	l, address := receiving(t, p, token)
	l.signal(syscall.SIGKILL)
	if _, err := s.DB().ExecContext(t.Context(), "UPDATE webhooks SET disabled_reason = 'failing'"); err != nil {
		t.Fatal(err)
	}
	l, _ = receiving(t, p, token, "--port="+portOf(address))
	if n := webhooksOf(t, p, token); n != 1 {
		t.Errorf("there are %d webhooks, want 1", n)
	}
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, servertest.Owner, servertest.Viewer))
	l.until(t, "channel.ban")
}

func TestReceiverReportsRemainingWebhook(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	l, _ := receiving(t, p, token)
	p.Kill()
	if code := l.signal(syscall.SIGINT); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	l.until(t, "the webhook is still there: the server does not answer")
}

func TestReceiverRejectsUnsignedRequests(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	l, address := receiving(t, p, token)
	const forged = `{"metadata":{"subscriptionType":"channel.forged"},"payload":{}}`
	stranger, err := standardwebhooks.NewWebhookRaw([]byte("the key of somebody else"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	signed, err := stranger.Sign("id", now, []byte(forged))
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range []string{"", signed} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(forged))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("webhook-id", "id")
		r.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		r.Header.Set("webhook-signature", signature)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("signed with %q: answered %d, want 401", signature, response.StatusCode)
		}
		l.until(t, "refused a request")
	}
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", banOfRaider)
	for _, line := range l.until(t, "channel.ban") {
		if strings.Contains(line, "forged") {
			t.Errorf("it prints %s", line)
		}
	}
}

func TestReceiverReceivesOnlyItsTypes(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url, "--webhook-allow-private")
	l, _ := receiving(t, p, token, "--channel="+servertest.Owner.String(), "--type=channel.unban", "--type=channel.mute")
	rest(t, p, token, http.MethodPost, "/v1/moderation/ban", banOfRaider)
	rest(t, p, token, http.MethodDelete, "/v1/moderation/ban", banOfRaider)
	if line, _ := l.next(t); !regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d{3}  ` + servertest.Owner.String() + `  #3  channel\.unban +[\w-]{12,}  \{"channelId":.*\}$`).MatchString(line) {
		t.Errorf("it prints %q", line)
	}
}

// TestServersThatCallLocalReceivers checks both which servers deliver to local receivers,
// and the receiver's error message for a server that does not.
func TestServersThatCallLocalReceivers(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		calls bool
	}{
		"any":                                  {nil, false},
		"server that allows private receivers": {[]string{"--webhook-allow-private"}, true},
		"a demo":                               {[]string{"--demo"}, true},
		"demo reachable by others":             {[]string{"--demo", "--grpc-addr=0.0.0.0:0"}, false},
		"demo reachable by others that may call private addresses": {[]string{"--demo", "--grpc-addr=0.0.0.0:0", "--webhook-allow-private"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, token, ban := serveTo(t, c.args)
			if c.calls {
				l, _ := receiving(t, p, token)
				rest(t, p, token, http.MethodPost, "/v1/moderation/ban", ban)
				l.until(t, "channel.ban")
				return
			}
			got := refused(t, "events", "receive", "--server=http://"+p.REST, "--client="+servertest.Dashboard, "--token="+token)
			for _, want := range []string{"the server rejected http://127.0.0.1:", "url must begin with https://", "--webhook-allow-private", "--url"} {
				if !strings.Contains(got, want) {
					t.Errorf("got the output %s, want %s", got, want)
				}
			}
			if n := webhooksOf(t, p, token); n != 0 {
				t.Errorf("%d webhooks, want none", n)
			}
		})
	}
}

// serveTo starts a server with the World or the demo. It returns a token of the owner of
// a channel, and the body of a ban in the channel.
func serveTo(t *testing.T, args []string) (p *process.Server, token, ban string) {
	t.Helper()
	url := storetest.SQLite(t)
	if !slices.Contains(args, "--demo") {
		token = ownerToken(t, prepare(t, url))
		return process.Serve(t, url, args...), token, banOfRaider
	}
	p = process.Serve(t, url, args...)
	p.Printed() // once it is loaded
	people := demo.People()
	if got := process.Run(t, nil, "", "client", "create", process.DBFlag(url), "--id="+servertest.Dashboard, "--name=x"); got.Code != 0 {
		t.Fatal(got)
	}
	got := process.Run(t, nil, "", "token", "issue", process.DBFlag(url), "--client="+servertest.Dashboard, "--user="+people.Owner.ID.String(), "--scope=channel.moderate")
	if got.Code != 0 {
		t.Fatal(got)
	}
	return p, strings.TrimSpace(got.Out), fmt.Sprintf(`{"channelId":%q,"banUserId":%q}`, people.Owner.ID, people.Raider.ID)
}

func TestReceiverReportsMissingSettings(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	token := ownerToken(t, prepare(t, url))
	p := process.Serve(t, url)
	receive := func(args ...string) []string {
		return append([]string{"events", "receive", "--client=" + servertest.Dashboard, "--token=" + token}, args...)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"token":        {[]string{"events", "receive", "--client=x"}, "--token=TOKEN"},
		"server":       {receive("--server=127.0.0.1:8080"), `--server "127.0.0.1:8080": must be an address such as http://127.0.0.1:8080`},
		"no server":    {receive("--server=http://127.0.0.1:1"), "the server does not answer"},
		"other server": {receive("--server=http://" + p.Admin), "which is not Moderato's REST API; check --server"},
		"port":         {receive("--server=http://"+p.REST, "--port="+portOf(p.Admin)), "choose another port with --port"},
		"type":         {receive("--server=http://"+p.REST, "--url=https://hooks.example.com", "--type=channel.bun"), `--type "channel.bun": must be one of channel.ban, `},
		"client":       {receive("--server=http://"+p.REST, "--client=other"), "CLIENT_ID_MISMATCH"},
	} {
		if got := refused(t, c.args...); !strings.Contains(got, c.want) || strings.Contains(got, token) {
			t.Errorf("%s: got the output %s, want %s", name, got, c.want)
		}
	}
}

// refused runs a receiver that must fail to start, and returns its output.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	l := listen(t, process.Command(t, nil, args...))
	var said strings.Builder
	for {
		line, ok := l.next(t)
		if !ok {
			break
		}
		said.WriteString(line + "\n")
		if strings.Contains(line, "Ctrl-C deletes it") {
			t.Fatalf("%v receives: %s", args, line)
		}
	}
	if l.wait() == 0 {
		t.Errorf("%v: exit code 0", args)
	}
	return said.String()
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func TestReceiverNamesInvalidFlag(t *testing.T) {
	got := process.Run(t, nil, "", "events", "receive", "--client=x", "--token=x", "--channel=zzz")
	if got.Code != 2 || !strings.Contains(got.Err, `--channel "zzz": must be a UUID`) {
		t.Errorf("got %+v", got)
	}
}
