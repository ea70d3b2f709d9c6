package webhooks_test

import (
	"errors"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent/webhook"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// ofDecision is in the query with which a change reads the clock and authorizes its caller.
const ofDecision = "FROM tokens t WHERE"

// eachHeld runs a test with two servers on one database server. The first one can be held
// within a change. SQLite has no other writer then.
func eachHeld(t *testing.T, test func(t *testing.T, a, b *servertest.Server, gate *storetest.Gate)) {
	t.Helper()
	t.Parallel()
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		c := config(url)
		c.DBLayer = gate.Layer()
		a, b := servertest.Start(t, c), servertest.Start(t, config(url))
		a.Load(t, servertest.World()...)
		test(t, a, b, gate)
	})
}

// beginRetitling changes the title of Owner's channel, and holds the change after it has read
// the clock, until the gate is opened.
func beginRetitling(t *testing.T, s *servertest.Server, gate *storetest.Gate, title string) (ended <-chan error) {
	t.Helper()
	owner := s.As(t, servertest.Owner)
	held := gate.Shut(ofDecision)
	ended = inBackground(func() error {
		_, o := s.CallGRPC(t, owner, "POST", "/v1/channels/info", servertest.Args{"title": title, "lang": "en"})
		if o.Reason != "OK" {
			return errors.New(o.Reason)
		}
		return nil
	})
	select {
	case <-held:
	case err := <-ended:
		t.Fatalf("the change was not held: %v", err)
	}
	return ended
}

// awaitIdle waits until a webhook has nothing to send.
func awaitIdle(t *testing.T, s *servertest.Server, id string) {
	t.Helper()
	eventually(t, "the webhook is idle", func() bool {
		return storetest.Must(s.Store.Read.Webhook.Query().Where(webhook.ID(uid.MustParse(id)), webhook.NextAtIsNil()).Exist(t.Context()))
	})
}

// wantTitle checks the title in the next delivery.
func (r *receiver) wantTitle(t *testing.T, title string) {
	t.Helper()
	if got := r.next(t); got.event.Payload["title"] != title {
		t.Errorf("got %s, want the title %s", got.body, title)
	}
}

// TestNewWebhookReceivesChangeInProgress creates webhooks while a change that began earlier is
// not committed: their holders do not see its result yet, so they must hear of it.
func TestNewWebhookReceivesChangeInProgress(t *testing.T) {
	eachHeld(t, func(t *testing.T, a, b *servertest.Server, gate *storetest.Gate) {
		changed := beginRetitling(t, a, gate, "in progress")
		b.Store.Clock.Advance(time.Second)
		ofViewer, every := newReceiver(t), newReceiver(t)
		create(t, b, b.As(t, servertest.Viewer), ofViewer.mine("channel.update"))
		create(t, b, b.AsService(t), servertest.Args{"url": every.URL, "type": []string{"channel.update"}})
		gate.Open()
		if err := <-changed; err != nil {
			t.Fatal(err)
		}
		ofViewer.wantTitle(t, "in progress")
		every.wantTitle(t, "in progress")
	})
}

// TestEnabledWebhookWaitsForChangeInProgress enables a webhook, whose user had no right for a
// time, while a change is not committed. The event of that change is not sent, so its result
// must be visible when the call returns.
func TestEnabledWebhookWaitsForChangeInProgress(t *testing.T) {
	eachHeld(t, func(t *testing.T, a, b *servertest.Server, gate *storetest.Gate) {
		r := newReceiver(t)
		owner := b.As(t, servertest.Owner)
		id := create(t, b, owner, r.mine("channel.update")).GetId()
		disable(t, b, id, "right_lost")
		changed := beginRetitling(t, a, gate, "in progress")
		b.Store.Clock.Advance(time.Second)
		enabled := inBackground(func() error {
			_, err := moderatov1.NewWebhooksServiceClient(b.Conn).EnableWebhook(owner.Context(), &moderatov1.EnableWebhookRequest{WebhookId: id})
			return err
		})
		storetest.AwaitStatement(t, b.Store, "live_started_at FROM channels")
		gate.Open()
		if err := errors.Join(<-changed, <-enabled); err != nil {
			t.Fatal(err)
		}
		retitle(t, b, servertest.Owner, "after")
		r.wantTitle(t, "after")
	})
}

// TestEnabledWebhookSkipsEventWithoutPosition enables a webhook, whose user had no right for a
// time, before an event of that time has a position.
func TestEnabledWebhookSkipsEventWithoutPosition(t *testing.T) {
	eachHeld(t, func(t *testing.T, a, _ *servertest.Server, _ *storetest.Gate) {
		r := newReceiver(t)
		owner := a.As(t, servertest.Owner)
		id := create(t, a, owner, r.mine("channel.update")).GetId()
		disable(t, a, id, "right_lost")
		sequencer, err := a.Store.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sequencer.Rollback() }()
		if _, err := sequencer.ExecContext(t.Context(), "SELECT id FROM event_sequencers FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		retitle(t, a, servertest.Owner, "secret")
		a.Store.Clock.Advance(time.Second)
		if call[*moderatov1.EnableWebhookResponse](t, a, owner, "POST", path+"/enable", servertest.Args{"webhookId": id}).GetResumed() {
			t.Error("the webhook resumed where it stopped")
		}
		if err := sequencer.Rollback(); err != nil {
			t.Fatal(err)
		}
		retitle(t, a, servertest.Owner, "after")
		r.wantTitle(t, "after")
	})
}

// TestClockThatIsSetBackHidesNoEvent sets the database's clock back after a webhook was created,
// and after it was enabled.
func TestClockThatIsSetBackHidesNoEvent(t *testing.T) {
	each(t, func(t *testing.T, s *servertest.Server) {
		r := newReceiver(t)
		owner := s.As(t, servertest.Owner)
		id := create(t, s, owner, r.mine("channel.update")).GetId()
		awaitIdle(t, s, id)
		s.Store.Clock.Advance(-time.Hour)
		retitle(t, s, servertest.Owner, "after the creation")
		r.wantTitle(t, "after the creation")

		disable(t, s, id, "right_lost")
		call[*moderatov1.EnableWebhookResponse](t, s, owner, "POST", path+"/enable", servertest.Args{"webhookId": id})
		awaitIdle(t, s, id)
		s.Store.Clock.Advance(-time.Hour)
		retitle(t, s, servertest.Owner, "after it was enabled")
		r.wantTitle(t, "after it was enabled")
	})
}
