package webhooks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// inCommit lists the ways to lose the connection to the database in COMMIT, so that the
// result is unknown.
var inCommit = map[string][]storetest.Cut{
	"before it happened":                {storetest.BeforeCommit},
	"before its answer came back":       {storetest.AfterCommit},
	"twice before it happened":          {storetest.BeforeCommit, storetest.BeforeCommit},
	"before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
	"a while before it happens":         {storetest.LateCommit},
	"before it, then a while before it": {storetest.BeforeCommit, storetest.LateCommit},
}

// eachCut runs a test on each kind of store with a cutter for its connections.
func eachCut(t *testing.T, test func(t *testing.T, s *servertest.Server, cutter *storetest.Cutter)) {
	t.Helper()
	t.Parallel()
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		cutter := &storetest.Cutter{}
		c := config(url)
		c.DBLayer = cutter.Layer
		s := servertest.Start(t, c)
		s.Load(t, servertest.World()...)
		test(t, s, cutter)
	})
}

// wantCuts checks that all connections were cut.
func wantCuts(t *testing.T, c *storetest.Cutter, cuts []storetest.Cut) {
	t.Helper()
	if c.Made() != len(cuts) {
		t.Errorf("%d cuts were made, want %d", c.Made(), len(cuts))
	}
}

func TestCreateWithLostCommitMakesOneWebhook(t *testing.T) {
	eachCut(t, func(t *testing.T, s *servertest.Server, cutter *storetest.Cutter) {
		owner := s.As(t, servertest.Owner)
		for _, c := range []struct {
			what    string
			caller  servertest.Credentials
			channel uid.ID
		}{
			{"of a channel", owner, servertest.Owner},
			{"of every channel", s.AsService(t), uid.ID{}},
		} {
			for name, cuts := range inCommit {
				r := newReceiver(t)
				before := len(list(t, s, c.caller, c.channel))
				cutter.CutNext("(*Service).CreateWebhook", cuts...)
				hook, o := s.CallGRPC(t, c.caller, "POST", path, servertest.Args{"url": r.URL})
				wantCuts(t, cutter, cuts)
				if made := len(list(t, s, c.caller, c.channel)) - before; o.Reason != "OK" || made != 1 {
					t.Errorf("%s, cut %s: %d webhooks, and %+v", c.what, name, made, o)
					continue
				}
				retitle(t, s, servertest.Owner, c.what+", cut "+name)
				created, _ := hook.(*moderatov1.CreateWebhookResponse)
				if err := verify(created.GetSecret(), r.next(t)); err != nil {
					t.Errorf("%s, cut %s: %v", c.what, name, err)
				}
			}
		}
		// The last allowed webhook must not count against itself.
		for len(list(t, s, owner, servertest.Owner)) < 19 {
			create(t, s, owner, servertest.Args{"url": fmt.Sprintf("http://127.0.0.1:9/%d", len(list(t, s, owner, servertest.Owner)))})
		}
		cutter.CutNext("(*Service).CreateWebhook", storetest.AfterCommit)
		create(t, s, owner, servertest.Args{"url": fmt.Sprintf("http://127.0.0.1:9/%d", len(list(t, s, owner, servertest.Owner)))})
	})
}

// TestCreateWithLostCommitAndLookupFails also cuts the statement with which a create
// checks whether its commit succeeded.
func TestCreateWithLostCommitAndLookupFails(t *testing.T) {
	eachCut(t, func(t *testing.T, s *servertest.Server, cutter *storetest.Cutter) {
		owner := s.As(t, servertest.Owner)
		cutter.CutNext("(*Service).CreateWebhook", storetest.BeforeCommit, storetest.AtStatement)
		_, o := s.CallGRPC(t, owner, "POST", path, servertest.Args{"url": "http://127.0.0.1:9/"})
		if made := len(list(t, s, owner, servertest.Owner)); (o.Reason == "OK") != (made == 1) {
			t.Errorf("%d webhooks, and %+v", made, o)
		}
		if cutter.Made() != 2 {
			t.Errorf("%d cuts were made, want 2", cutter.Made())
		}
	})
}

func TestChangeWithLostCommitSucceeds(t *testing.T) {
	eachCut(t, func(t *testing.T, s *servertest.Server, cutter *storetest.Cutter) {
		owner := s.As(t, servertest.Owner)
		r := newReceiver(t)
		for name, cuts := range inCommit {
			hook := create(t, s, owner, r.mine())
			args := servertest.Args{"webhookId": hook.GetId()}

			cutter.CutNext("(*Service).RotateWebhookSecret", cuts...)
			rotated := call[*moderatov1.RotateWebhookSecretResponse](t, s, owner, "POST", path+"/rotate-secret", args)
			wantCuts(t, cutter, cuts)
			retitle(t, s, servertest.Owner, name)
			got := r.next(t)
			for what, secret := range map[string]string{"new": rotated.GetSecret(), "former": hook.GetSecret()} {
				if err := verify(secret, got); err != nil {
					t.Errorf("cut %s: the %s secret: %v", name, what, err)
				}
			}

			disable(t, s, hook.GetId(), "right_lost")
			cutter.CutNext("(*Service).EnableWebhook", cuts...)
			if call[*moderatov1.EnableWebhookResponse](t, s, owner, "POST", path+"/enable", args).GetResumed() {
				t.Errorf("cut %s: resumed, though its user had no right for a time", name)
			}
			wantCuts(t, cutter, cuts)

			cutter.CutNext("(*Service).DeleteWebhook", cuts...)
			if _, o := s.CallGRPC(t, owner, "DELETE", path, args); o.Reason != "OK" {
				t.Errorf("cut %s: the deletion: %+v", name, o)
			}
			wantCuts(t, cutter, cuts)
			if _, o := s.CallGRPC(t, owner, "DELETE", path, args); o.Reason != "WEBHOOK_NOT_FOUND" {
				t.Errorf("cut %s: another deletion: %+v", name, o)
			}
		}
	})
}

// disable waits until a webhook has nothing to send, and disables it.
func disable(t *testing.T, s *servertest.Server, id, reason string) {
	t.Helper()
	eventually(t, "the webhook is idle", func() bool {
		changed, err := s.Store.DB().Exec("UPDATE webhooks SET disabled_reason = ? WHERE next_at IS NULL AND id = ?", reason, uid.MustParse(id))
		if err != nil { // a deadlock with the engine, which sends in the background
			t.Log(err)
			return false
		}
		n, err := changed.RowsAffected()
		return err == nil && n == 1
	})
}

// TestWorkerLosesNothingOnLostCommit cuts the transactions in which a worker claims a
// webhook, reads its events and records its deliveries.
func TestWorkerLosesNothingOnLostCommit(t *testing.T) {
	eachCut(t, func(t *testing.T, s *servertest.Server, cutter *storetest.Cutter) {
		r := newReceiver(t)
		hook := create(t, s, s.As(t, servertest.Owner), r.mine())
		var titles []string
		for name, cuts := range inCommit {
			for turn := range 3 {
				cutter.CutNext("(*worker).turn", append(make([]storetest.Cut, turn), cuts...)...)
				var want []string
				for i := range 3 {
					want = append(want, fmt.Sprint(turn, i, " cut ", name))
					retitle(t, s, servertest.Owner, want[i])
				}
				if got := r.titles(t, s, want[2]); !slices.Equal(slices.Compact(got), want) {
					t.Errorf("turn %d, cut %s: got %q", turn, name, got)
				}
				eventually(t, "all deliveries are noted", func() bool {
					return !slices.ContainsFunc(deliveries(t, s, hook.GetId()), func(d *moderatov1.WebhookDelivery) bool {
						return d.GetStatus() != "delivered"
					})
				})
				wantCuts(t, cutter, cuts)
				titles = append(titles, want...)
			}
		}
		if rows := deliveries(t, s, hook.GetId()); len(rows) != len(titles) {
			t.Errorf("%d deliveries, want %d", len(rows), len(titles))
		}
	})
}

// titles returns the titles that arrive, up to the last. A claim whose holder does not
// know of it expires.
func (r *receiver) titles(t *testing.T, s *servertest.Server, last string) (titles []string) {
	t.Helper()
	late := time.After(patience)
	for len(titles) == 0 || titles[len(titles)-1] != last {
		select {
		case got := <-r.got:
			title, _ := got.event.Payload["title"].(string)
			titles = append(titles, title)
		case <-time.After(500 * time.Millisecond):
			s.Store.Clock.Advance(time.Minute)
		case <-late:
			t.Fatalf("got %q, and never %q", titles, last)
		}
	}
	return titles
}
