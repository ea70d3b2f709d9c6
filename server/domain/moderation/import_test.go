package moderation_test

import (
	"strings"
	"testing"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/test/servertest"
)

func banRecord(user uid.ID, at instant.Instant, expiresAt *instant.Instant, reason string) *platformv1.Record {
	r := &platformv1.BanRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), ModeratorId: servertest.Moderator.String(), BannedAt: at.Proto(), Reason: reason,
	}
	if expiresAt != nil {
		r.ExpiresAt = expiresAt.Proto()
	}
	return &platformv1.Record{Kind: &platformv1.Record_Ban{Ban: r}}
}

func muteRecord(user uid.ID, at, expiresAt instant.Instant) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Mute{Mute: &platformv1.MuteRecord{
		ChannelId: servertest.Owner.String(), UserId: user.String(), ModeratorId: servertest.Moderator.String(), MutedAt: at.Proto(), ExpiresAt: expiresAt.Proto(), Reason: "caps",
	}}}
}

func messageRecord(user uid.ID, text string, at instant.Instant) *platformv1.Record {
	return &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
		Id: uid.New().String(), ChannelId: servertest.Owner.String(), UserId: user.String(), Text: text, SentAt: at.Proto(),
	}}}
}

// TestImportOfBansAndMutes imports bans and mutes before and after the messages that they hide,
// twice.
func TestImportOfBansAndMutes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		now := frozen(t, d)
		crowd := servertest.AddUsers(t, d.Store, 4)
		permanent, timed, muted, ended := crowd[0], crowd[1], crowd[2], crowd[3]
		at, end := now.Add(-time.Hour), now.Add(time.Minute)
		around := func(user uid.ID) []*platformv1.Record {
			return []*platformv1.Record{messageRecord(user, "before", at.Add(-time.Millisecond)), messageRecord(user, "at", at), messageRecord(user, "after", at.Add(time.Millisecond))}
		}
		records := append(around(permanent), messageRecord(ended, "of a free user", at.Add(-time.Second)))
		records = append(records, banRecord(permanent, at, nil, "spam"), banRecord(timed, at, &end, ""), muteRecord(muted, at, end), banRecord(ended, at, &now, ""), muteRecord(ended, at, now))
		for _, user := range []uid.ID{timed, muted} {
			records = append(records, around(user)...)
		}
		before := len(d.events())
		for range 2 {
			d.Load(t, records...)
			d.wantVisible("of a free user", "after", "after", "after")
			d.wantSound()
		}
		if n := len(d.events()) - before; n > 0 {
			t.Errorf("the import emits %d events", n)
		}
		wantReason(t, d.post(ended, "free"), "OK")
		wantReason(t, d.post(muted, "muted"), "USER_MUTED")
		st := d.standing(permanent)
		if !st.GetIsBanned() || instant.OfProto(st.GetBannedAt()) != at {
			t.Errorf("the standing is %v", st)
		}
		got, err := d.ban(servertest.Owner, permanent)
		if err != nil || got.GetModeratorId() != servertest.Moderator.String() || got.GetTerms().GetReason() != "spam" || got.GetOutcome().GetChanged() {
			t.Errorf("the ban is %v (%v)", got, err)
		}
		// A ban of the import can be replaced, lifted and reverted as any other, and expires.
		d.mustBan(servertest.Owner, timed)
		d.wantSound()
		wantReverted(t, d.revert(servertest.Owner, now, false), timed.String()+" RESTORED")
		d.wantSound()
		d.Store.Clock.Freeze(end)
		if err := newExpirer(d).ExpireBans(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantReason(t, d.post(timed, "free"), "OK")
		wantReason(t, d.post(muted, "free"), "OK")
		wantReason(t, d.unban(servertest.Owner, permanent), "OK")
		d.wantSound()
	})
}

// TestImportReplacesABan imports a ban of a user who is banned, with a ban that was replaced.
func TestImportReplacesABan(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		now := frozen(t, d)
		d.banFor(servertest.Owner, servertest.Moderator, 60, "")
		d.mustBan(servertest.Owner, servertest.Moderator)
		end := now.Add(time.Second)
		d.Load(t, banRecord(servertest.Moderator, now.Add(-time.Hour), &end, "imported"))
		d.wantSound()
		_, err := d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "NOT_CHANNEL_MODERATOR")
		d.Store.Clock.Freeze(end)
		_, err = d.ban(servertest.Moderator, servertest.Raider)
		wantReason(t, err, "OK")
	})
}

// TestInvalidImportsOfBansAndMutes imports records that are refused.
func TestInvalidImportsOfBansAndMutes(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		now := frozen(t, d)
		past, later := now.Add(-time.Minute), now.Add(time.Minute)
		ban := func(change func(*platformv1.BanRecord)) *platformv1.Record {
			r := banRecord(servertest.Raider, past, nil, "")
			change(r.GetBan())
			return r
		}
		for want, r := range map[string]*platformv1.Record{
			"bannedAt is required":               ban(func(r *platformv1.BanRecord) { r.BannedAt = nil }),
			"bannedAt must not be in the future": banRecord(servertest.Raider, later, nil, ""),
			"expiresAt must be after bannedAt":   banRecord(servertest.Raider, past, &past, ""),
			"reason":                             banRecord(servertest.Raider, past, nil, strings.Repeat("x", 501)),
			"userId":                             ban(func(r *platformv1.BanRecord) { r.UserId = "x" }),
			"moderatorId is required":            ban(func(r *platformv1.BanRecord) { r.ModeratorId = "" }),
			apierr.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL).Text(): banRecord(servertest.Owner, past, nil, ""),
			apierr.New(moderatov1.Reason_REASON_USER_NOT_FOUND).Text():    ban(func(r *platformv1.BanRecord) { r.ModeratorId = servertest.Nobody.String() }),
			apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND).Text(): ban(func(r *platformv1.BanRecord) { r.ChannelId = servertest.Nobody.String() }),
			"expiresAt is required": {Kind: &platformv1.Record_Mute{Mute: &platformv1.MuteRecord{
				ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), ModeratorId: servertest.Moderator.String(), MutedAt: past.Proto(),
			}}},
			"mutedAt must not be in the future": muteRecord(servertest.Raider, later, later.Add(time.Second)),
		} {
			err := (&importer.Importer{Store: d.Store}).ImportRecords(t.Context(), []*platformv1.Record{r})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
}
