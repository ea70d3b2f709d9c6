package moderation_test

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
)

const (
	sweepsPath = "/v1/moderation/sweeps"
	commitPath = "/v1/moderation/sweeps/commit"
)

// preview previews a sweep for a phrase within a minute, changed by options.
func (d *drive) preview(as uid.ID, options ...func(*moderatov1.PreviewSweepRequest)) (*moderatov1.PreviewSweepResponse, error) {
	req := &moderatov1.PreviewSweepRequest{ChannelId: servertest.Owner.String(), Phrase: new("free sub"), WithinSeconds: new(int64(60))}
	for _, change := range options {
		change(req)
	}
	return d.Moderation.PreviewSweep(d.creds[as].Context(), req)
}

func (d *drive) mustPreview(options ...func(*moderatov1.PreviewSweepRequest)) *moderatov1.PreviewSweepResponse {
	d.t.Helper()
	r, err := d.preview(servertest.Moderator, options...)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// noText is an option of preview: a sweep without a phrase.
func noText(r *moderatov1.PreviewSweepRequest) { r.Phrase = nil }

// followed is an option of preview: the users who followed within some seconds.
func followed(within int64) func(*moderatov1.PreviewSweepRequest) {
	return func(r *moderatov1.PreviewSweepRequest) { r.FollowedWithinSeconds = &within }
}

func (d *drive) commit(as uid.ID, token string, options ...func(*moderatov1.CommitSweepRequest)) (*moderatov1.CommitSweepResponse, error) {
	req := &moderatov1.CommitSweepRequest{ChannelId: servertest.Owner.String(), SweepToken: token}
	for _, change := range options {
		change(req)
	}
	return d.Moderation.CommitSweep(d.creds[as].Context(), req)
}

// commitWithKey is commit with an idempotency key.
func (d *drive) commitWithKey(key, token string, options ...func(*moderatov1.CommitSweepRequest)) (*moderatov1.CommitSweepResponse, error) {
	req := &moderatov1.CommitSweepRequest{ChannelId: servertest.Owner.String(), SweepToken: token}
	for _, change := range options {
		change(req)
	}
	return d.Moderation.CommitSweep(metadata.AppendToOutgoingContext(d.creds[servertest.Moderator].Context(), idempotency.MetadataKey, key), req)
}

func (d *drive) mustCommitWithKey(key, token string) *moderatov1.CommitSweepResponse {
	d.t.Helper()
	r, err := d.commitWithKey(key, token)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *drive) mustCommit(token string, options ...func(*moderatov1.CommitSweepRequest)) *moderatov1.CommitSweepResponse {
	d.t.Helper()
	r, err := d.commit(servertest.Moderator, token, options...)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// glowing is an option of commit: an afterglow.
func glowing(seconds int64) func(*moderatov1.CommitSweepRequest) {
	return func(r *moderatov1.CommitSweepRequest) { r.AfterglowSeconds = &seconds }
}

// raid stores messages of new users, and returns the users.
func (d *drive) raid(users int, text string) []uid.ID {
	d.t.Helper()
	ids := servertest.AddUsers(d.t, d.Store, users)
	d.postAll(ids, text)
	return ids
}

// postAll stores a message of each user in bulk.
func (d *drive) postAll(ids []uid.ID, text string) {
	d.t.Helper()
	now, err := d.Store.Clock.Now(context.Background(), d.Store.Read)
	if err != nil {
		d.t.Fatal(err)
	}
	for some := range slices.Chunk(ids, 100) {
		d.write(func(tx *ent.Tx) error {
			var rows []*ent.MessageCreate
			for _, id := range some {
				rows = append(rows, tx.Message.Create().SetID(uid.New()).SetChannelID(servertest.Owner).SetUserID(id).
					SetGeneration(0).SetText(text).SetSentAt(now))
			}
			return tx.Message.CreateBulk(rows...).Exec(context.Background())
		})
	}
}

func (d *drive) write(body func(*ent.Tx) error) {
	d.t.Helper()
	err := d.Store.Write(context.Background(), func(_ context.Context, tx *ent.Tx, _ store.Attempt) error { return body(tx) })
	if err != nil {
		d.t.Fatal(err)
	}
}

// follow stores a follow that began some time ago.
func (d *drive) follow(user uid.ID, ago time.Duration) {
	d.t.Helper()
	d.write(func(tx *ent.Tx) error {
		now, err := d.Store.Clock.Now(context.Background(), tx)
		if err != nil {
			return err
		}
		return tx.Follow.Create().SetChannelID(servertest.Owner).SetUserID(user).SetFollowedAt(now.Add(-ago)).SetIsNotificationEnabled(false).Exec(context.Background())
	})
}

func (d *drive) role(user uid.ID, name string) {
	d.t.Helper()
	d.write(func(tx *ent.Tx) error {
		return tx.Role.Create().SetID(uid.New()).SetChannelID(servertest.Owner).SetUserID(user).SetRole(name).SetCreatedAt(1).Exec(context.Background())
	})
}

// completer returns the job that another server would run.
func (d *drive) completer() *moderation.SweepCompleter {
	return &moderation.SweepCompleter{Store: d.Store}
}
