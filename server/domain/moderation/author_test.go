package moderation_test

import (
	"context"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	entsweep "github.com/moderato-live/moderato/ent/sweep"
	"github.com/moderato-live/moderato/ent/token"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// grant sets the scopes that the Moderator has granted to the dashboard.
func (d *drive) grant(scopes ...string) {
	d.t.Helper()
	d.Load(d.t.(*testing.T), &platformv1.Record{Kind: &platformv1.Record_Grant{Grant: &platformv1.GrantRecord{
		ClientId: servertest.Dashboard, UserId: servertest.Moderator.String(), Scopes: scopes,
	}}})
}

// TestSweepsEndWithTheRightsOfTheirAuthor takes every right that the author of a sweep needs,
// while it is in progress and during its afterglow. What it has done remains.
func TestSweepsEndWithTheRightsOfTheirAuthor(t *testing.T) {
	for name, take := range map[string]func(*testing.T, *drive){
		"nothing": nil,
		"the token expires": func(t *testing.T, d *drive) {
			d.write(func(tx *ent.Tx) error {
				return tx.Token.Update().Where(token.UserID(servertest.Moderator)).SetExpiresAt(1).Exec(t.Context())
			})
		},
		"the role": func(t *testing.T, d *drive) {
			if err := d.setModerator(servertest.Moderator, false); err != nil {
				t.Fatal(err)
			}
		},
		"a ban": func(_ *testing.T, d *drive) { d.mustBan(servertest.Owner, servertest.Moderator) },
		"a deletion": func(t *testing.T, d *drive) {
			_, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Moderator.String()})
			wantReason(t, err, "OK")
		},
		"the grant": func(_ *testing.T, d *drive) { d.grant() },
		"the scope": func(_ *testing.T, d *drive) { d.grant(authn.UsersRead) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *drive) {
				d.t = t
				isKept := name == "nothing" || name == "the token expires"
				start := frozen(t, d)
				d.grant(authn.ChannelModerate)
				swept := d.raid(1, "free sub")[0]
				first := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
				second := d.raid(1, "free sub")[0]
				token := d.mustPreview().GetSweepToken()
				late := d.raid(1, "hello")[0]
				batch := d.mustCommit(token, glowing(600)).GetBatchId()
				d.interrupt(batch, late)
				if take != nil {
					take(t, d)
				}
				d.Store.Clock.Freeze(start.Add(10 * time.Second))
				if err := d.completer().Complete(context.Background()); err != nil {
					t.Fatal(err)
				}
				if d.standing(late).GetIsBanned() != isKept {
					t.Errorf("the sweep banned a further user: %t", !isKept)
				}
				row := storetest.Must(d.Store.Read.Sweep.Query().Where(entsweep.BatchID(uid.MustParse(batch))).Only(t.Context()))
				if (row.EndedAt == nil) != isKept || row.DueAt != nil || (row.AfterglowUntil != nil) != isKept {
					t.Errorf("the row is %v", row)
				}
				for range 2 {
					want := "OK"
					if isKept {
						want = "USER_BANNED"
					}
					wantReason(t, d.post(servertest.Viewer, "free sub"), want)
				}
				for _, id := range []uid.ID{swept, second} {
					if !d.standing(id).GetIsBanned() {
						t.Error("the bans that were made are gone")
					}
				}
				glowing, err := d.Store.Read.Sweep.Query().Where(entsweep.BatchID(uid.MustParse(first.GetBatchId()))).Only(t.Context())
				if err != nil || (glowing.AfterglowUntil != nil) != isKept {
					t.Errorf("the afterglow is %v (%v)", glowing, err)
				}
				d.wantChunks(0)
			})
		})
	}
}

// TestEndedSweepStaysEnded gives the author of a sweep the role back without which it ended.
func TestEndedSweepStaysEnded(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.raid(1, "free sub")
		token := d.mustPreview().GetSweepToken()
		r := d.mustCommit(token)
		d.interrupt(r.GetBatchId(), d.raid(1, "hello")...)
		for _, is := range []bool{false, true} {
			if err := d.setModerator(servertest.Moderator, is); err != nil {
				t.Fatal(err)
			}
			d.Store.Clock.Freeze(start.Add(time.Minute))
			if err := d.completer().Complete(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		row := storetest.Must(d.Store.Read.Sweep.Query().Where(entsweep.BatchID(uid.MustParse(r.GetBatchId()))).Only(t.Context()))
		if row.EndedAt == nil || row.BannedCount != 1 {
			t.Errorf("the sweep is %v", row)
		}
	})
}

// TestPardonedUsersAreExemptFromAfterglows unbans a user whom an afterglow banned, during two
// afterglows. A later one bans the user again.
func TestPardonedUsersAreExemptFromAfterglows(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		begin := func(phrase string) {
			d.raid(1, phrase)
			d.mustCommit(d.mustPreview(func(r *moderatov1.PreviewSweepRequest) { r.Phrase = &phrase }).GetSweepToken(), glowing(600))
		}
		begin("free sub")
		begin("cheap gems")
		wantReason(t, d.post(servertest.Raider, "free sub"), "USER_BANNED")
		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")
		d.mustBan(servertest.Owner, servertest.Raider)
		wantReason(t, d.unban(servertest.Moderator, servertest.Raider), "OK")
		for _, text := range []string{"why ban me for free sub?", "cheap gems"} {
			wantReason(t, d.post(servertest.Raider, text), "OK")
		}
		wantReason(t, d.post(servertest.Viewer, "free sub"), "USER_BANNED")
		begin("third phrase")
		wantReason(t, d.post(servertest.Raider, "third phrase"), "USER_BANNED")
		if n := storetest.Must(d.Store.Read.Pardon.Query().Count(t.Context())); n != 2 {
			t.Errorf("there are %d pardons", n)
		}
		d.Store.Clock.Freeze(start.Add(48 * time.Hour))
		if _, err := d.completer().RemoveOld(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Must(d.Store.Read.Pardon.Query().Count(t.Context())); n != 0 {
			t.Errorf("%d pardons outlive their sweeps", n)
		}
	})
}
