package watch_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/event/bus"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/natstest"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// eachExchange runs a test with servers that exchange chat through the database, and with servers
// that do so over NATS. The function config returns the configuration of a server.
func eachExchange(t *testing.T, test func(t *testing.T, config func() server.Config)) {
	t.Helper()
	for _, exchange := range []string{"table", "nats"} {
		t.Run(exchange, func(t *testing.T) {
			storetest.EachKind(t, func(t *testing.T, url store.URL) {
				over := bus.Config{}
				if exchange == "nats" {
					over = bus.Config{URL: natstest.Start(t).URL(), Stream: "MODERATO", Subject: "moderato.events"}
				}
				test(t, func() server.Config {
					c := servertest.Config(url)
					c.Bus, c.ChatOverNATS, c.ChatSubject = over, over.URL != "", "moderato.chat"
					return c
				})
			})
		})
	}
}

// TestChatReachesListenersOfOtherServers posts on two servers: a listener of either hears
// the messages of each in the order of their posting. A server that runs alone writes no
// batches, unless it is not connected to NATS yet.
func TestChatReachesListenersOfOtherServers(t *testing.T) {
	t.Parallel()
	eachExchange(t, func(t *testing.T, config func() server.Config) {
		c := config()
		one := servertest.Start(t, c)
		one.Load(t, servertest.World()...)
		alone := watchSSE(t, one, one.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{Type: []string{chatMessage}})
		say(t, one, one.As(t, servertest.Owner), "alone")
		alone.next(t)
		time.Sleep(200 * time.Millisecond) // longer than a batch waits
		if n, err := one.Store.Read.ChatBatch.Query().Count(context.Background()); err != nil || n != 0 && !c.ChatOverNATS {
			t.Errorf("a server that runs alone wrote %d batches (%v)", n, err)
		}
		two := servertest.Start(t, config())
		other := watchGRPC(t, two, two.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{Type: []string{chatMessage}})
		const n = 30
		var posts sync.WaitGroup
		for name, s := range map[string]*servertest.Server{"one": one, "two": two} {
			by := s.As(t, servertest.Owner)
			posts.Go(func() {
				for i := range n {
					say(t, s, by, fmt.Sprintf("%s %d", name, i))
				}
			})
		}
		posts.Wait()
		for server, w := range map[string]watcher{"one": alone, "two": other} {
			next := map[string]int{}
			for range 2 * n {
				var from string
				var i int
				text, _ := payload(w.next(t))["message"].(string)
				if _, err := fmt.Sscan(text, &from, &i); err != nil || i != next[from] {
					t.Fatalf("the listener of %s received %q after %d of that server", server, text, next[from])
				}
				next[from]++
			}
		}
		began := time.Now()
		say(t, one, one.As(t, servertest.Owner), "fast")
		other.next(t)
		t.Logf("from the post to the listener of the other server: %s", time.Since(began))
	})
}

// TestNoMessageFollowsItsDeletion posts while messages are deleted in every way. After the
// event of a deletion, a listener hears no message that it deleted; and what is visible
// in the end is what was posted after all deletions.
func TestNoMessageFollowsItsDeletion(t *testing.T) {
	t.Parallel()
	eachExchange(t, func(t *testing.T, config func() server.Config) {
		servers := []*servertest.Server{servertest.Start(t, config())}
		servers[0].Load(t, servertest.World()...)
		servers = append(servers, servertest.Start(t, config()))
		var listeners []watcher
		for i, s := range servers {
			watch := []transport{watchSSE, watchGRPC}[i]
			listeners = append(listeners, watch(t, s, s.As(t, servertest.Owner), &moderatov1.WatchEventsRequest{}))
		}
		s, owner := servers[0], servers[0].As(t, servertest.Owner)
		stop := make(chan struct{})
		var posts sync.WaitGroup
		for _, s := range servers {
			for _, user := range []uid.ID{servertest.Viewer, servertest.Raider} {
				by := s.As(t, user)
				posts.Go(func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(3 * time.Millisecond): // refused while the user is banned
							s.REST(t, by, http.MethodPost, "/v1/chats/messages", fmt.Sprintf(`{"channelId":%q,"message":"x"}`, servertest.Owner))
						}
					}
				})
			}
		}
		for range 4 {
			time.Sleep(60 * time.Millisecond)
			ban(t, s, servertest.Owner, servertest.Raider)
			if r := s.REST(t, owner, http.MethodDelete, "/v1/chats", fmt.Sprintf(`{"channelId":%q}`, servertest.Owner)); r.Status != http.StatusOK {
				t.Error(r.Body)
			}
			unban(t, s, servertest.Owner, servertest.Raider)
		}
		close(stop)
		posts.Wait()
		last := say(t, s, owner, "the end")
		visible := visibleMessages(t, s)
		// The event of a deletion may arrive after later messages, but not after this one.
		ban(t, s, servertest.Owner, servertest.Other)
		for i, w := range listeners {
			heardIDs := map[string]string{} // the sender, by message
			for isLast, isOver := false, false; !isLast || !isOver; {
				got := w.next(t)
				p := payload(got)
				switch got.kind() {
				case "channel.ban":
					isOver = isOver || p["bannedUserId"] == servertest.Other.String()
				case chatMessage:
					id := p["messageId"].(string)
					isLast = isLast || id == last
					heardIDs[id] = p["sender"].(map[string]any)["id"].(string)
				case "channel.chat.clear":
					clear(heardIDs)
				case "channel.chat.clear_user_messages":
					for id, sender := range heardIDs {
						if sender == p["targetUserId"] {
							delete(heardIDs, id)
						}
					}
				}
			}
			for id := range heardIDs {
				if !slices.Contains(visible, id) {
					t.Errorf("listener %d heard message %s after the event that deletes it", i, id)
				}
			}
		}
	})
}

// visibleMessages returns the ids of all visible messages of the channel. A page may have
// few messages although more follow.
func visibleMessages(t *testing.T, s *servertest.Server) (ids []string) {
	t.Helper()
	service := s.AsService(t).Context()
	for cursor := ""; ; {
		page, err := s.Chat.ListMessages(service, &platformv1.ListMessagesRequest{ChannelId: servertest.Owner.String(), Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.GetMessages() {
			ids = append(ids, m.GetId())
		}
		if cursor = page.GetNextCursor(); cursor == "" {
			return ids
		}
	}
}
