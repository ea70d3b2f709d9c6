package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

const chatMessage = "channel.chat.message"

// say posts a message to Owner's channel and returns its id.
func say(t *testing.T, s *servertest.Server, by uid.ID, text string) string {
	t.Helper()
	return call[*moderatov1.PostMessageResponse](t, s, s.As(t, by), "POST", "/v1/chats/messages",
		servertest.Args{"channelId": servertest.Owner.String(), "message": text}).GetMessageId()
}

// text returns the text of a chat message, or the type of another event.
func text(s sent) string {
	if s.event.Metadata.SubscriptionType != chatMessage {
		return s.event.Metadata.SubscriptionType
	}
	text, _ := s.event.Payload["message"].(string)
	return text
}

func missed(s sent) int {
	n, _ := strconv.Atoi(s.header.Get(webhooks.MissedHeader))
	return n
}

// TestChatIsSentOnce posts on two servers. Webhooks of either, of one channel and of every
// channel, receive each message once, in the order of each server, signed and without a
// cursor, and nothing is stored.
func TestChatIsSentOnce(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		one := servertest.Start(t, config(url))
		one.Load(t, servertest.World()...)
		two := servertest.Start(t, config(url))
		r, every := newReceiver(t), newReceiver(t)
		hook := create(t, one, one.As(t, servertest.Viewer), r.mine(chatMessage))
		create(t, two, two.AsService(t), servertest.Args{"url": every.URL, "type": []string{chatMessage, "channel.update"}})
		create(t, two, two.As(t, servertest.Owner), servertest.Args{"url": every.URL}) // asks for no chat
		const n = 20
		var posts sync.WaitGroup
		for name, s := range map[string]*servertest.Server{"one": one, "two": two} {
			posts.Go(func() {
				for i := range n {
					say(t, s, servertest.Owner, fmt.Sprintf("%s %d", name, i))
				}
			})
		}
		posts.Wait()
		for _, r := range []*receiver{r, every} {
			next := map[string]int{}
			for range 2 * n {
				got := r.wantNext(t, chatMessage)
				var from string
				var i int
				if _, err := fmt.Sscan(text(got), &from, &i); err != nil || i != next[from] || missed(got) > 0 {
					t.Fatalf("got %q after %d of that server, having missed %d", text(got), next[from], missed(got))
				}
				next[from]++
				if r != every {
					wantLive(t, hook.GetSecret(), got)
				}
			}
		}
		// What would be sent twice is sent before this.
		say(t, one, servertest.Owner, "one 20")
		say(t, two, servertest.Owner, "two 20")
		for range 2 {
			for _, r := range []*receiver{r, every} {
				if got := text(r.next(t)); !strings.HasSuffix(got, " 20") {
					t.Errorf("got %q again", got)
				}
			}
		}
		if got := deliveries(t, one, hook.GetId()); len(got) != 0 {
			t.Errorf("%d deliveries are stored", len(got))
		}
	})
}

// wantLive checks the headers and metadata of a live event.
func wantLive(t *testing.T, secret string, got sent) {
	t.Helper()
	if err := verify(secret, got); err != nil {
		t.Error(err)
	}
	if c := got.header.Values(webhooks.CursorHeader); c != nil || strings.Contains(string(got.body), `"sequence"`) {
		t.Errorf("a live event has the cursor %q and the body %s", c, got.body)
	}
	if id := got.header.Get("Webhook-Id"); id != got.event.Metadata.MessageID || id != got.event.Payload["messageId"] {
		t.Errorf("the delivery of %s has the id %s", got.body, id)
	}
}

// TestFlagsAreSentToModerators has a moderator's webhook for flags, and a viewer's for chat.
func TestFlagsAreSentToModerators(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	flags, chat := newReceiver(t), newReceiver(t)
	create(t, s, s.As(t, servertest.Moderator), servertest.Args{"channelId": servertest.Owner.String(), "url": flags.URL, "type": []string{"channel.chat.flag"}})
	create(t, s, s.As(t, servertest.Viewer), chat.mine(chatMessage))
	call[*moderatov1.UpdateChatRulesResponse](t, s, s.As(t, servertest.Owner), "POST", "/v1/chats/rules", servertest.Args{
		"channelId": servertest.Owner.String(), "put": []servertest.Args{{"name": "Gems", "kind": "terms", "action": "flag", "terms": []string{"gems"}}},
	})
	flagged := say(t, s, servertest.Viewer, "free gems")
	say(t, s, servertest.Viewer, "bye")
	if got := flags.next(t); text(got) != "channel.chat.flag" || got.event.Payload["messageId"] != flagged {
		t.Errorf("the moderator gets %s %v", text(got), got.event.Payload)
	}
	for _, want := range []string{"free gems", "bye"} {
		if got := text(chat.next(t)); got != want {
			t.Errorf("the viewer gets %q, want %q", got, want)
		}
	}
}

// TestSlowReceiverOfChatReceivesBans has a receiver that does not respond to chat. Bans
// arrive meanwhile. Later it receives the chat that waited, without a message that was
// deleted before it was sent.
func TestSlowReceiverOfChatReceivesBans(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		c := config(url)
		c.WebhookTimeout = 15 * time.Second
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		r := newReceiver(t)
		released := make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		defer release()
		r.answers(func(_ http.ResponseWriter, got sent) {
			if text(got) == "first" {
				<-released
			}
		})
		create(t, s, s.As(t, servertest.Owner), r.mine(chatMessage, "channel.ban"))
		say(t, s, servertest.Owner, "first")
		r.wantNext(t, chatMessage)
		say(t, s, servertest.Owner, "waits")
		say(t, s, servertest.Raider, "deleted")
		ban(t, s, servertest.Owner, servertest.Raider)
		r.wantNext(t, "channel.ban")
		r.wantNothing(t)
		release()
		say(t, s, servertest.Owner, "last")
		for _, want := range []string{"waits", "last"} {
			if got := r.next(t); text(got) != want || missed(got) != 0 {
				t.Errorf("got %q, having missed %d, want %q", text(got), missed(got), want)
			}
		}
	})
}

// TestFailuresOfChatChangeNothingElse has a receiver that fails for chat, in each way that
// would disable or delay a delivery that is kept.
func TestFailuresOfChatChangeNothingElse(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"gone": http.StatusGone, "error": http.StatusInternalServerError, "pause": http.StatusTooManyRequests} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *servertest.Server) {
				r := newReceiver(t)
				r.answers(func(w http.ResponseWriter, got sent) {
					if text(got) == "fails" {
						w.Header().Set("Retry-After", "3600")
						w.WriteHeader(status)
					}
				})
				create(t, s, s.As(t, servertest.Owner), r.mine(chatMessage, "channel.update"))
				say(t, s, servertest.Owner, "fails")
				r.wantNext(t, chatMessage)
				counted := func(outcome string) bool {
					return strings.Contains(s.Metrics(t), `moderato_webhook_live_events_total{outcome="`+outcome+`"} 1`)
				}
				eventually(t, "the failure is counted", func() bool { return counted("failed") })
				if status != http.StatusInternalServerError { // a long pause
					say(t, s, servertest.Owner, "during the pause")
					eventually(t, "the next message is lost", func() bool { return counted("lost") })
				}
				retitle(t, s, servertest.Owner, "kept")
				r.wantNext(t, "channel.update")
				if hook := only(t, s); hook.GetStatus() != "enabled" || hook.GetLastError() != "" {
					t.Errorf("got %v", hook)
				}
			})
		})
	}
}

// TestReceiverIsToldWhatItMissed lets the pause after a failure pass.
func TestReceiverIsToldWhatItMissed(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusInternalServerError)
		create(t, s, s.As(t, servertest.Owner), r.mine(chatMessage))
		say(t, s, servertest.Owner, "0")
		r.next(t)
		r.answers(nil)
		posted := 0
		eventually(t, "a message arrives again", func() bool {
			posted++
			say(t, s, servertest.Owner, fmt.Sprint(posted))
			return len(r.got) > 0
		})
		got := r.next(t)
		if want, _ := strconv.Atoi(text(got)); missed(got) != want {
			t.Errorf("message %s arrived with %d missed, want as many as were posted before it", text(got), missed(got))
		}
	})
}

// TestChatIsNotSentWithoutRight takes each right on which a webhook depends, and posts
// immediately.
func TestChatIsNotSentWithoutRight(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r, control := newReceiver(t), newReceiver(t)
		moderators := create(t, s, s.As(t, servertest.Moderator), r.mine(chatMessage, "channel.ban"))
		deleted := create(t, s, s.As(t, servertest.Viewer), r.mine(chatMessage))
		create(t, s, s.As(t, servertest.Viewer), control.mine(chatMessage))
		say(t, s, servertest.Owner, "before")
		for _, r := range []*receiver{r, r, control} {
			r.wantNext(t, chatMessage)
		}
		call[*moderatov1.RemoveModeratorResponse](t, s, s.As(t, servertest.Owner), "DELETE", "/v1/moderation/moderators",
			servertest.Args{"channelId": servertest.Owner.String(), "userId": servertest.Moderator.String()})
		call[*moderatov1.DeleteWebhookResponse](t, s, s.As(t, servertest.Viewer), "DELETE", path, servertest.Args{"webhookId": deleted.GetId()})
		say(t, s, servertest.Owner, "after")
		control.wantNext(t, chatMessage)
		eventually(t, "it is disabled", func() bool {
			return slices.ContainsFunc(list(t, s, s.AsService(t), servertest.Owner), func(w *moderatov1.Webhook) bool {
				return w.GetId() == moderators.GetId() && w.GetDisabledReason() == "right_lost"
			})
		})
		r.wantNothing(t)
	})
}
