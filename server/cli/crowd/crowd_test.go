package crowd

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/demo"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// start starts a demo, and returns a client of its viewers.
func start(t *testing.T) (*moderato.Client, demo.Tokens) {
	t.Helper()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	tokens, err := demo.Load(t.Context(), s.Store, s.Origin())
	if err != nil {
		t.Fatal(err)
	}
	client, err := moderato.New(moderato.Config{Address: s.GRPCAddr, Plaintext: true, ClientID: demo.ViewersClient, Tokens: moderato.StaticToken(tokens.Viewers)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, tokens
}

var spam = regexp.MustCompile(`(?i)skins|followers|phone|coins`)

// TestViewersActThroughTheServer does all that viewers do, and then bans one of them. The rules of
// the demo hold nothing but spam.
func TestViewersActThroughTheServer(t *testing.T) {
	t.Parallel()
	client, _ := start(t)
	channel := demo.People().Owner.ID.String()
	c, isRejected := demo.NewCrowd(1), 0
	var speaker demo.Act
	for range 300 {
		a := c.Next()
		if err := do(t.Context(), client, channel, a); err != nil {
			c.Forget(a.MessageID)
			isHeld := moderato.ReasonOf(err) == moderatov1.Reason_REASON_MESSAGE_HELD && spam.MatchString(a.Text)
			if moderato.ReasonOf(err) != moderatov1.Reason_REASON_USER_BANNED && !isHeld {
				t.Errorf("%+v: %v", a, err)
			}
			isRejected++ // the demo has banned users who spam
			continue
		}
		if a.Text != "" {
			speaker = a
		}
	}
	if isRejected > 20 {
		t.Errorf("the server rejected %d of 300 acts", isRejected)
	}
	ctx := moderato.ActingAs(t.Context(), channel)
	if _, err := client.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: speaker.User.ID.String()}); err != nil {
		t.Fatal(err)
	}
	speaker.MessageID, speaker.ReplyTo = uid.New(), uid.ID{}
	if err := do(t.Context(), client, channel, speaker); moderato.ReasonOf(err) != moderatov1.Reason_REASON_USER_BANNED {
		t.Errorf("a banned viewer: got %v", err)
	}
}

// TestRunEndsWithItsContext ends a crowd during a pause, and one whose server does not respond.
func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client, err := moderato.New(moderato.Config{Address: "127.0.0.1:1", Plaintext: true, ClientID: demo.ViewersClient, Tokens: moderato.StaticToken("mds_x")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for _, after := range []time.Duration{100 * time.Millisecond, 3500 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		begun := time.Now()
		Run(ctx, client, 1)
		cancel()
		if took := time.Since(begun); took > after+time.Second {
			t.Errorf("the crowd ended %s after the end of its context", took-after)
		}
	}
}

func TestLogLeavesViewersOut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(Quiet(slog.NewTextHandler(&out, nil)))
	log.Info("call", "method", "a", "client_id", demo.ViewersClient, "code", "OK")
	log.Info("call", "method", "b", "client_id", "demo-chat")
	log.Error("call", "method", "c", "client_id", demo.ViewersClient)
	log.With("x", "y").Info("call", "method", "d", "client_id", demo.ViewersClient)
	if got := out.String(); strings.Contains(got, "method=a") || !strings.Contains(got, "method=b") || !strings.Contains(got, "method=c") || strings.Contains(got, "method=d") {
		t.Errorf("got %s", got)
	}
}
