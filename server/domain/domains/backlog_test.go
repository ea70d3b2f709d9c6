package domains_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/tables"
	"github.com/moderato-live/moderato/server/domain/domains"
	"github.com/moderato-live/moderato/server/event/outbox/outboxtest"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// noWebhooks stands for the part of a server that sends to webhooks.
type noWebhooks struct{}

func (noWebhooks) Sweep(context.Context) error { return nil }

// TestJobsCountWhatTheyHandle fails for a job that reports neither a backlog nor how far it is behind, and for a backlog that
// does not count the rows that the job handles.
func TestJobsCountWhatTheyHandle(t *testing.T) {
	// The rows that fillBacklogs adds, by job. The test adds none for the other jobs.
	due := map[string]int64{"remove expired tokens": 1, "remove old events": 3, "remove old webhook deliveries": 4}
	outboxtest.EachWorld(t, func(t *testing.T, s *store.Store) {
		fillBacklogs(t, s)
		env := tables.Env{Store: s, Log: slog.New(slog.DiscardHandler), Retention: eventtype.DefaultRetention(), Webhooks: noWebhooks{}}
		for _, job := range domains.Jobs(env) {
			if job.Due == nil || job.IsUncounted {
				if job.Behind == nil && job.Name != "disable webhooks whose user lost the right" { // it looks at all webhooks, in rounds
					t.Errorf("%s: has no backlog", job.Name)
				}
				continue
			}
			before, err := job.Backlog(t.Context(), s)
			if want, isKnown := due[job.Name]; err != nil || (isKnown && before != want) {
				t.Errorf("%s: the backlog is %d (%v), want %d", job.Name, before, err, want)
			}
			if job.Name == "compact the counts of channels" && before == 0 {
				t.Errorf("%s: the changes of the World are not counted", job.Name)
			}
			for more := true; more; {
				if more, err = job.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if after, err := job.Backlog(t.Context(), s); err != nil || after != 0 {
				t.Errorf("%s: the backlog is %d (%v) after a run, want 0", job.Name, after, err)
			}
		}
	})
}

// fillBacklogs adds an expired token, three expired events, a deleted webhook with two
// pending deliveries, and an old delivery of another webhook.
func fillBacklogs(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := authn.Issue(t.Context(), s, authn.NewToken{Kind: authn.App, ClientID: servertest.Dashboard, Lifetime: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := outboxtest.Emit(s, servertest.Owner, 3); err != nil {
		t.Fatal(err)
	}
	outboxtest.Turn(t, outboxtest.NewSequencer(s))
	err := s.Write(t.Context(), func(ctx context.Context, tx *ent.Tx, _ store.Attempt) error {
		now, err := s.Clock.Now(ctx, tx)
		if err != nil {
			return err
		}
		for reason, positions := range map[string][]int64{"deleted": {1, 2}, "": {1}} {
			hook := storetest.Must(tx.Webhook.Create().SetID(uid.New()).SetClientID(servertest.Dashboard).SetURL("").SetTypes("").SetSecret("").
				SetCreatedAt(now).SetPosition(0).SetDisabledReason(reason).Save(ctx))
			for _, position := range positions {
				delivery := tx.WebhookDelivery.Create().SetID(uid.New()).SetWebhookID(hook.ID).SetChannelID(servertest.Owner).SetEventID(uid.New()).
					SetPosition(position).SetType("channel.ban").SetStatus("pending").SetNextAttemptAt(now)
				if reason == "" {
					delivery.SetStatus("delivered").SetFinishedAt(now)
				}
				storetest.Must(delivery.Save(ctx))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(1000 * 24 * time.Hour)
}
