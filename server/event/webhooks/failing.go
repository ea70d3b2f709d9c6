package webhooks

import (
	"context"
	"net/url"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/webhook"
	"github.com/moderato-live/moderato/server/store"
)

// Failing is a webhook whose latest attempt failed, and that has events to deliver.
type Failing struct {
	ID, Host, LastError string
	// LastSuccess is zero before the first success.
	LastSuccess time.Time
}

// ListFailing returns the webhooks that fail, up to a limit, for people on call. Receivers may
// have secrets in their URLs, so only the hosts are shown.
func ListFailing(ctx context.Context, s *store.Store, limit int) (all []Failing, err error) {
	// Few webhooks have something to deliver, and they are in an index.
	rows, err := s.Read.Webhook.Query().
		Where(webhook.NextAtNotNil(), webhook.DisabledReason(enabled), webhook.LastErrorNEQ("")).
		Order(ent.Asc(webhook.FieldNextAt)).Limit(limit).
		Select(webhook.FieldID, webhook.FieldURL, webhook.FieldLastError, webhook.FieldLastSuccessAt).All(ctx)
	if err != nil {
		return nil, s.Classify(err)
	}
	for _, w := range rows {
		f := Failing{ID: w.ID.String(), LastError: w.LastError}
		if receiver, err := url.Parse(w.URL); err == nil {
			f.Host = receiver.Host
		}
		if w.LastSuccessAt != nil {
			f.LastSuccess = w.LastSuccessAt.Time()
		}
		all = append(all, f)
	}
	return all, nil
}
