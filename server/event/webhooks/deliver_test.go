package webhooks_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/event/outbox"
	"github.com/moderato-live/moderato/server/event/webhooks"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestDeliveryIsSigned(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		hook := create(t, s, s.As(t, servertest.Owner), servertest.Args{"url": r.URL + "/hook?key=k"})
		ban(t, s, servertest.Owner, servertest.Raider)
		got := r.wantNext(t, "channel.ban")
		if err := verify(hook.GetSecret(), got); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "User-Agent": "Moderato", "Webhook-Id": got.event.Metadata.MessageID,
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: got %q, want %q", name, got.header.Get(name), want)
			}
		}
		at, err := strconv.ParseInt(got.header.Get("Webhook-Timestamp"), 10, 64)
		if age := time.Since(time.Unix(at, 0)); err != nil || age < -time.Minute || age > time.Minute {
			t.Errorf("timestamp %q", got.header.Get("Webhook-Timestamp"))
		}
		page, err := outbox.Read(t.Context(), s.Store, 0, 10)
		if err != nil || len(page) < 1 || string(outbox.JSON(page[0].Message)) != string(got.body) {
			t.Errorf("got the body %s, want that of WatchEvents (%v)", got.body, err)
		}
		if cursor := got.header.Get(webhooks.CursorHeader); cursor != page[0].Cursor {
			t.Errorf("got the cursor %q, want that of WatchEvents, %q", cursor, page[0].Cursor)
		}
		r.wantNext(t, "channel.chat.clear_user_messages")
		eventually(t, "both are listed as delivered", func() bool {
			rows := deliveries(t, s, hook.GetId())
			return len(rows) == 2 && rows[0].GetType() == "channel.chat.clear_user_messages" && rows[1].GetStatus() == "delivered" &&
				rows[0].GetStatus() == "delivered" && rows[1].GetAttempts() == 1 && rows[1].GetLastStatus() == 204 &&
				rows[1].DeliveredAt != nil && rows[1].NextAttemptAt == nil && rows[1].GetEventId() == got.event.Metadata.MessageID
		})
		if w := only(t, s); w.GetStatus() != "enabled" || w.LastSuccessAt == nil || w.LastError != nil || w.DisabledReason != nil || w.GetUserId() != servertest.Owner.String() {
			t.Errorf("got %v", w)
		}
	})
}

func TestChannelEventsAreDeliveredInOrder(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		var failures atomic.Int32
		r.answers(func(w http.ResponseWriter, got sent) {
			m := got.event.Metadata
			if m.ChannelID == servertest.Owner.String() && m.Sequence == 5 && failures.Add(1) == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		hook := create(t, s, s.AsService(t), servertest.Args{"url": r.URL})
		if hook.ChannelId != nil {
			t.Errorf("got channel %s, want every channel", hook.GetChannelId())
		}
		const n = 20
		want := map[string][]int64{}
		for i := range n {
			for _, channel := range []uid.ID{servertest.Owner, servertest.Other} {
				retitle(t, s, channel, fmt.Sprint("title ", i))
				want[channel.String()] = append(want[channel.String()], int64(i+1))
			}
		}
		want[servertest.Owner.String()] = slices.Insert(want[servertest.Owner.String()], 5, 5)
		arrived := map[string][]int64{}
		for range 2*n + 1 {
			var got sent
			select {
			case got = <-r.got:
			case <-time.After(500 * time.Millisecond):
				s.Store.Clock.Advance(10 * time.Second) // the delay of the failed delivery
				got = r.next(t)
			}
			m := got.event.Metadata
			arrived[m.ChannelID] = append(arrived[m.ChannelID], m.Sequence)
		}
		if !maps.EqualFunc(arrived, want, slices.Equal) {
			t.Errorf("got %v, want %v", arrived, want)
		}
	})
}

func TestOnlyMatchingEventsAreDelivered(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		create(t, s, s.As(t, servertest.Owner), r.mine("channel.update", "channel.update"))
		ban(t, s, servertest.Owner, servertest.Raider)
		retitle(t, s, servertest.Other, "not mine")
		retitle(t, s, servertest.Owner, "mine")
		if got := r.wantNext(t, "channel.update"); got.event.Metadata.ChannelID != servertest.Owner.String() {
			t.Errorf("got %s", got.body)
		}
		r.wantNothing(t)
	})
}

func TestWebhookReceivesNoEarlierEvents(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		retitle(t, s, servertest.Owner, "before")
		eventually(t, "the event has its position", func() bool {
			page, err := outbox.Read(t.Context(), s.Store, 0, 10)
			return err == nil && len(page) == 1
		})
		r := newReceiver(t)
		create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "after")
		if got := r.next(t); got.event.Payload["title"] != "after" {
			t.Errorf("got %s", got.body)
		}
	})
}

func TestFailedDeliveryIsRetried(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusInternalServerError)
		hook := create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "one")
		retitle(t, s, servertest.Owner, "two")
		first := r.next(t)
		for attempts := int32(1); attempts <= 3; attempts++ {
			eventually(t, "the attempt is noted", func() bool {
				rows := deliveries(t, s, hook.GetId())
				return len(rows) > 0 && rows[len(rows)-1].GetAttempts() == attempts
			})
			if row := deliveries(t, s, hook.GetId()); row[len(row)-1].GetLastStatus() != 500 || row[len(row)-1].GetStatus() != "pending" ||
				row[len(row)-1].GetLastError() != "the receiver answered 500" {
				t.Fatalf("got %v", row)
			}
			r.wantNothing(t)
			if attempts == 3 {
				r.answers(nil)
			}
			s.Store.Clock.Advance(time.Hour)
			if again := r.next(t); again.event.Metadata != first.event.Metadata || again.header.Get("Webhook-Timestamp") == first.header.Get("Webhook-Timestamp") {
				t.Fatalf("got %s, want %s again, at another time", again.body, first.body)
			}
		}
		if got := r.next(t); got.event.Payload["title"] != "two" {
			t.Errorf("got %s", got.body)
		}
		eventually(t, "the error is over", func() bool { return only(t, s).GetLastError() == "" })
	})
}

func TestGoneDisablesWebhookImmediately(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusGone)
		create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "one")
		r.next(t)
		eventually(t, "it is disabled", func() bool { return only(t, s).GetDisabledReason() == "gone" })
		if w := only(t, s); w.GetStatus() != "disabled" || w.GetLastError() != "the receiver answered 410" {
			t.Errorf("got %v", w)
		}
	})
}

func TestWebhookFailingForDaysIsDisabled(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.status(http.StatusBadGateway)
		hook := create(t, s, s.As(t, servertest.Owner), r.mine())
		retitle(t, s, servertest.Owner, "one")
		retitle(t, s, servertest.Owner, "two")
		for only(t, s).GetStatus() == "enabled" {
			select {
			case <-r.got:
			case <-time.After(50 * time.Millisecond):
			}
			s.Store.Clock.Advance(4 * time.Hour)
		}
		if w := only(t, s); w.GetDisabledReason() != "failing" {
			t.Fatalf("got %v", w)
		}
		rows := deliveries(t, s, hook.GetId())
		before := rows[len(rows)-1]
		if before.GetStatus() != "failed" || before.GetAttempts() < 3 {
			t.Errorf("got %v", before)
		}
		// Once enabled again, the webhook resumes with the failed delivery.
		for len(r.got) > 0 {
			<-r.got
		}
		r.answers(nil)
		_, o := s.CallGRPC(t, s.As(t, servertest.Owner), "POST", path+"/enable", servertest.Args{"webhookId": hook.GetId()})
		if o.Reason != "OK" {
			t.Fatal(o)
		}
		for _, title := range []string{"one", "two"} {
			if got := r.next(t); got.event.Payload["title"] != title {
				t.Errorf("got %s, want %s", got.body, title)
			}
		}
		if after := deliveries(t, s, hook.GetId()); after[len(after)-1].GetAttempts() != before.GetAttempts()+1 {
			t.Errorf("got %v, want one attempt more than %d", after[len(after)-1], before.GetAttempts())
		}
	})
}

func TestDeadReceiverDoesNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		dead, alive := newReceiver(t), newReceiver(t)
		release := make(chan struct{})
		dead.answers(func(http.ResponseWriter, sent) { <-release })
		defer close(release)
		create(t, s, s.As(t, servertest.Owner), dead.mine())
		create(t, s, s.As(t, servertest.Owner), alive.mine())
		for i := range 10 {
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
			if got := alive.next(t); got.event.Payload["title"] != fmt.Sprint(i) {
				t.Fatalf("got %s", got.body)
			}
		}
		if n := len(dead.got); n != 1 {
			t.Errorf("the dead receiver got %d concurrent requests, want 1", n)
		}
	})
}

func TestFailingChannelDoesNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		r.answers(func(w http.ResponseWriter, got sent) {
			if got.event.Metadata.ChannelID == servertest.Other.String() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		hook := create(t, s, s.AsService(t), servertest.Args{"url": r.URL})
		retitle(t, s, servertest.Other, "fails")
		r.next(t)
		eventually(t, "the failure is noted", func() bool {
			rows := deliveries(t, s, hook.GetId())
			return len(rows) == 1 && rows[0].GetAttempts() == 1
		})
		for i := range 5 {
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
			if got := r.next(t); got.event.Payload["title"] != fmt.Sprint(i) {
				t.Fatalf("got %s", got.body)
			}
		}
	})
}

func TestRefusedConnectionIsReported(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		// Nothing listens on this port, and it is not assigned as a free port meanwhile.
		create(t, s, s.As(t, servertest.Owner), servertest.Args{"channelId": servertest.Owner.String(), "url": "http://127.0.0.1:1/"})
		retitle(t, s, servertest.Owner, "one")
		eventually(t, "it fails", func() bool { return only(t, s).GetLastError() != "" })
		if w := only(t, s); w.GetLastError() != "the receiver refused the connection" {
			t.Errorf("got %q", w.GetLastError())
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	inside, r := newReceiver(t), newReceiver(t)
	r.status(http.StatusTemporaryRedirect, "Location", inside.URL)
	create(t, s, s.As(t, servertest.Owner), r.mine())
	retitle(t, s, servertest.Owner, "one")
	r.next(t)
	eventually(t, "it is a failure", func() bool { return only(t, s).GetLastError() == "the receiver answered 307" })
	inside.wantNothing(t)
}

func TestTwoServersDeliverOnce(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		a := servertest.Start(t, config(url))
		a.Load(t, servertest.World()...)
		b := servertest.Start(t, config(url))
		r := newReceiver(t)
		create(t, a, a.As(t, servertest.Owner), r.mine())
		const n = 30
		for i := range n {
			s := []*servertest.Server{a, b}[i%2]
			retitle(t, s, servertest.Owner, fmt.Sprint(i))
			if i%5 == 0 {
				time.Sleep(20 * time.Millisecond) // lets the webhook become idle at times
			}
		}
		for i := range n {
			if got := r.next(t); got.event.Payload["title"] != fmt.Sprint(i) {
				t.Fatalf("got %s, want title %d", got.body, i)
			}
		}
		eventually(t, "all are noted", func() bool {
			pending := 0
			for _, d := range deliveries(t, a, only(t, a).GetId()) {
				if d.GetStatus() == "pending" {
					pending++
				}
			}
			return pending == 0
		})
		r.wantNothing(t)
	})
}

func TestPrivateReceiversAreRejected(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Config(storetest.SQLite(t)))
	s.Load(t, servertest.World()...)
	owner := s.As(t, servertest.Owner)
	// A host name is not checked until it is dialed. The error does not reveal whether an
	// internal name exists.
	for _, name := range []string{"localhost", "absent.invalid"} {
		hook := create(t, s, owner, servertest.Args{"url": "https://" + name + ":9443/hook"})
		retitle(t, s, servertest.Owner, name)
		eventually(t, "the name is refused", func() bool {
			rows := deliveries(t, s, hook.GetId())
			return len(rows) == 1 && rows[0].GetLastError() == "the receiver's name leads to no public address" && rows[0].LastStatus == nil
		})
		call[*moderatov1.DeleteWebhookResponse](t, s, owner, "DELETE", path, servertest.Args{"webhookId": hook.GetId()})
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "10.1.2.3", "169.254.169.254", "[::ffff:192.168.0.1]", "[64:ff9b::a00:1]", "[fd00::1]"} {
		_, o := s.CallREST(t, owner, "POST", path, servertest.Args{"url": "https://" + host + "/"})
		if o.Reason != "INVALID_ARGUMENT" || !strings.Contains(strings.Join(o.Violations, ""), "url must not be in a private network") {
			t.Errorf("%s: got %+v", host, o)
		}
	}
}
