package moderation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/test/servertest"
)

const revertsPath = "/v1/moderation/reverts"

// revert reverts, as the owner, what a moderator did since an instant.
func (d *drive) revert(moderator uid.ID, since instant.Instant, isDryRun bool) *moderatov1.RevertModeratorResponse {
	d.t.Helper()
	r, err := d.Moderation.RevertModerator(d.creds[servertest.Owner].Context(), &moderatov1.RevertModeratorRequest{
		ChannelId: servertest.Owner.String(), ModeratorId: moderator.String(), Since: since.Proto(), DryRun: isDryRun,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// wantReverted compares the results of a revert: ids with statuses.
func wantReverted(t *testing.T, r *moderatov1.RevertModeratorResponse, want ...string) {
	t.Helper()
	got := []string{}
	for _, row := range r.GetResults() {
		got = append(got, row.GetUserId()+" "+row.GetStatus())
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("reverted (-want +got):\n%s", diff)
	}
}

// revertBody returns the body of a revert of the Moderator.
func revertBody(since any, more string) string {
	return channelBody(fmt.Sprintf(`"moderatorId":%q,"since":%q%s`, servertest.Moderator, since, more))
}

// nameOf returns the names of a user whom servertest.AddUsers added.
func nameOf(id uid.ID) string { return "u" + strings.ReplaceAll(id.String(), "-", "") }

// TestRevertLiftsWhatTheModeratorDid reverts bans and mutes of every kind over REST, first in
// a dry run.
func TestRevertLiftsWhatTheModeratorDid(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		at := func(seconds time.Duration) { d.Store.Clock.Freeze(start.Add(seconds * time.Second)) }
		crowd := servertest.AddUsers(t, d.Store, 9)
		for i, id := range crowd {
			d.mustPost(id, fmt.Sprint(i))
		}
		early, timed, lapsed, changed, ofOwner, both, freed := crowd[0], crowd[1], crowd[2], crowd[3], crowd[4], crowd[5], crowd[6]
		d.mustBan(servertest.Moderator, early)
		at(1)
		d.mustBan(servertest.Moderator, changed)
		wantReason(t, d.unban(servertest.Owner, changed), "OK")
		d.mustBan(servertest.Owner, changed)
		d.mustBan(servertest.Owner, ofOwner)
		d.mustMute(servertest.Moderator, both)
		at(2)
		d.banFor(servertest.Moderator, lapsed, 1, "")
		d.mustBan(servertest.Moderator, freed)
		wantReason(t, d.unban(servertest.Owner, freed), "OK")
		batch := d.banAll(servertest.Moderator, crowd[8], ofOwner, crowd[7])
		at(3)
		d.banFor(servertest.Moderator, timed, 3600, "spam")
		d.mustBan(servertest.Moderator, both)
		at(10)
		d.wantVisible()
		before := len(d.events())

		result := func(id uid.ID, status string) any {
			return map[string]any{"userId": id.String(), "username": nameOf(id), "status": status}
		}
		want := map[string]any{
			"counts": map[string]any{"unbanned": 4.0, "unmuted": 1.0, "restored": 0.0}, "hasMore": false, "messagesRemovedBefore": nil,
			"results": []any{
				result(both, "UNMUTED"), result(crowd[8], "UNBANNED"), result(crowd[7], "UNBANNED"), result(timed, "UNBANNED"), result(both, "UNBANNED"),
			},
		}
		since := start.Add(time.Second)
		got := data(t, d.REST(t, d.creds[servertest.Owner], "POST", revertsPath, revertBody(since, `,"dryRun":true`)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dry run (-want +got):\n%s", diff)
		}
		for _, e := range d.events()[before:] {
			if payload(t, e)["cause"] != "expired" { // the expirer may announce the lapse meanwhile
				t.Errorf("the dry run emitted %s", e.Type)
			}
		}
		got = data(t, d.REST(t, d.creds[servertest.Owner], "POST", revertsPath, revertBody(since, "")))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("revert (-want +got):\n%s", diff)
		}
		d.wantVisible("1", "5", "7", "8")

		owner := servertest.Owner.String()
		unban := func(id uid.ID, more map[string]any) any {
			fields := map[string]any{
				"type": "channel.unban", "channelId": owner, "moderatorId": owner, "clientId": servertest.Dashboard,
				"unbannedUserId": id.String(), "unbannedUserDisplayName": nameOf(id),
				"unbannedAt": start.Add(10 * time.Second).String(), "reason": nil, "expiresAt": nil, "batchId": nil, "cause": "revert", "endReason": nil,
			}
			for name, value := range more {
				fields[name] = value
			}
			return fields
		}
		ofBatch := map[string]any{"batchId": batch.GetBatchId()}
		wantEvents := []any{
			map[string]any{
				"type": "channel.unmute", "channelId": owner, "moderatorId": owner, "clientId": servertest.Dashboard,
				"unmutedUserId": both.String(), "unmutedUserDisplayName": nameOf(both),
				"unmutedAt": start.Add(10 * time.Second).String(), "reason": nil, "expiresAt": start.Add(601 * time.Second).String(), "cause": "revert", "endReason": nil,
			},
			unban(crowd[8], ofBatch), unban(crowd[7], ofBatch),
			unban(timed, map[string]any{"reason": "spam", "expiresAt": start.Add(3603 * time.Second).String()}), unban(both, nil),
		}
		events := []any{}
		for _, e := range d.events()[before:] {
			if fields := payload(t, e); fields["cause"] != "expired" {
				fields["type"] = e.Type
				events = append(events, fields)
			}
		}
		if diff := cmp.Diff(wantEvents, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		for _, id := range []uid.ID{early, changed, ofOwner} {
			if !d.standing(id).GetIsBanned() {
				t.Errorf("%s is banned no more", id)
			}
		}
		wantReverted(t, d.revert(servertest.Moderator, since, false)) // nothing is left
		wantReverted(t, d.revert(servertest.Moderator, start, false), early.String()+" UNBANNED")
		d.wantSound()
	})
}

// TestRevertLeavesWhatLapsed reverts in the last millisecond of a ban and a mute, in a dry run,
// and at their end, most likely before an expirer announces it.
func TestRevertLeavesWhatLapsed(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.banFor(servertest.Moderator, servertest.Raider, 600, "")
		d.mustMute(servertest.Moderator, servertest.Viewer)
		d.Store.Clock.Freeze(start.Add(10*time.Minute - 1))
		wantReverted(t, d.revert(servertest.Moderator, start, true), servertest.Raider.String()+" UNBANNED", servertest.Viewer.String()+" UNMUTED")
		d.Store.Clock.Freeze(start.Add(10 * time.Minute))
		wantReverted(t, d.revert(servertest.Moderator, start, true))
	})
}

// TestInvalidReverts sends reverts that are refused and change nothing.
func TestInvalidReverts(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		d.mustBan(servertest.Moderator, servertest.Raider)
		before := len(d.events())
		owner, moderatorID := d.creds[servertest.Owner], fmt.Sprintf(`"moderatorId":%q`, servertest.Moderator)
		for _, c := range []struct {
			as     servertest.Credentials
			fields string
			status int
			want   string
		}{
			{owner, moderatorID, 400, `"field":"since"`},
			{owner, moderatorID + `,"since":"yesterday"`, 400, `"field":"since"`},
			{owner, moderatorID + `,"since":"` + (start + 1).String() + `"`, 400, `"field":"since","description":"must not be in the future"`},
			{owner, `"since":"` + start.String() + `"`, 400, `"field":"moderatorId"`},
			{owner, `"moderatorId":"tomasz_wrona","since":"` + start.String() + `"`, 400, `"field":"moderatorId"`},
			{owner, `"moderatorId":"` + servertest.Nobody.String() + `","since":"` + start.String() + `"`, 400, `"code":"USER_NOT_FOUND"`},
			{d.creds[servertest.Moderator], moderatorID + `,"since":"` + start.String() + `"`, 403, `"code":"NOT_CHANNEL_OWNER"`},
			{d.creds[servertest.Viewer], moderatorID + `,"since":"` + start.String() + `"`, 403, `"code":"NOT_CHANNEL_OWNER"`},
			{d.creds[servertest.Other], moderatorID + `,"since":"` + start.String() + `"`, 403, `"code":"NOT_CHANNEL_OWNER"`},
		} {
			if r := d.REST(t, c.as, "POST", revertsPath, channelBody(c.fields)); r.Status != c.status || !strings.Contains(r.Body, c.want) {
				t.Errorf("%s: got %d %.300s, want %s", c.fields, r.Status, r.Body, c.want)
			}
		}
		// A channel's owner lifts the bans of that channel only.
		r, err := d.Moderation.RevertModerator(d.creds[servertest.Other].Context(), &moderatov1.RevertModeratorRequest{
			ChannelId: servertest.Other.String(), ModeratorId: servertest.Moderator.String(), Since: start.Proto(),
		})
		wantReason(t, err, "OK")
		wantReverted(t, r)
		if n := len(d.events()); n != before || !d.standing(servertest.Raider).GetIsBanned() {
			t.Errorf("a refused call changed something; there are %d events", n)
		}
		wantReverted(t, d.revert(servertest.Moderator, start, false), servertest.Raider.String()+" UNBANNED")
	})
}

// TestRevertRestoresMessagesForADay reverts bans and mutes just before and after the day, with
// purges in between. The older ones are lifted too, without their messages.
func TestRevertRestoresMessagesForADay(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		crowd := servertest.AddUsers(t, d.Store, 4)
		for i, id := range crowd {
			d.mustPost(id, fmt.Sprint(i))
			if i%2 == 0 {
				d.banFor(servertest.Moderator, id, 1209600, "")
				continue
			}
			_, err := d.Moderation.MuteUser(d.creds[servertest.Moderator].Context(), &moderatov1.MuteUserRequest{
				ChannelId: servertest.Owner.String(), MutedUserId: id.String(), DurationSeconds: new(int64(1209600)),
			})
			wantReason(t, err, "OK")
			if i == 1 {
				d.Store.Clock.Freeze(start.Add(time.Hour))
			}
		}
		d.Store.Clock.Freeze(start.Add(chat.RestorableFor + time.Hour - 1))
		drain(t, d.Store)
		if r := d.revert(servertest.Moderator, start, false); r.GetCounts().GetUnbanned() != 2 || r.GetCounts().GetUnmuted() != 2 {
			t.Errorf("the revert returns %v", r)
		}
		d.wantVisible("2", "3")
		d.Store.Clock.Freeze(start.Add(chat.RestorableFor + 2*time.Hour))
		drain(t, d.Store)
		d.wantVisible("2", "3")
		if n, err := d.Store.Read.Message.Query().Count(t.Context()); err != nil || n != 2 {
			t.Errorf("%d rows of messages are left (%v), want 2", n, err)
		}
	})
}

// TestRevertKeepsMessagesImportedMeanwhile imports messages of a user who is muted and then
// banned, which are visible until the next deletion, and reverts both.
func TestRevertKeepsMessagesImportedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		load := func(text string, seconds time.Duration) {
			d.Load(t, &platformv1.Record{Kind: &platformv1.Record_Message{Message: &platformv1.MessageRecord{
				Id: uid.New().String(), ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: text,
				SentAt: start.Add(seconds * time.Second).Proto(),
			}}})
		}
		d.mustPost(servertest.Raider, "before")
		d.mustMute(servertest.Moderator, servertest.Raider)
		load("during the mute", 1)
		d.Store.Clock.Freeze(start.Add(2 * time.Second))
		d.mustBan(servertest.Moderator, servertest.Raider)
		load("during the ban", 3)
		d.wantVisible("during the ban")
		d.Store.Clock.Freeze(start.Add(3 * time.Minute))
		drain(t, d.Store)
		d.revert(servertest.Moderator, start, false)
		d.Store.Clock.Freeze(start.Add(6 * time.Minute))
		drain(t, d.Store)
		d.wantVisible("before", "during the mute", "during the ban")
	})
}

// TestRevertEndsSweeps reverts a moderator with a sweep that is in progress and has an
// afterglow, and leaves the sweep of another moderator alone.
func TestRevertEndsSweeps(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		raider := d.raid(1, "free sub")[0]
		swept := d.mustCommit(d.mustPreview().GetSweepToken(), glowing(600))
		late := d.raid(1, "hello")[0]
		d.interrupt(swept.GetBatchId(), late)
		other, err := d.preview(servertest.Owner, func(r *moderatov1.PreviewSweepRequest) { r.Phrase = new("hello") })
		wantReason(t, err, "OK")
		_, err = d.commit(servertest.Owner, other.GetSweepToken(), glowing(600))
		wantReason(t, err, "OK")
		wantReason(t, d.unban(servertest.Owner, late), "OK")
		// A dry run does not end it.
		wantReverted(t, d.revert(servertest.Moderator, start, true), raider.String()+" UNBANNED")
		d.wantChunks(1)
		d.Store.Clock.Freeze(start.Add(2 * time.Second))
		// The sweep began before this time. It ends nevertheless, or it would ban on.
		wantReverted(t, d.revert(servertest.Moderator, start.Add(time.Second), false))
		d.wantChunks(0)
		d.Store.Clock.Freeze(start.Add(time.Minute))
		if err := d.completer().Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.standing(late).GetIsBanned() {
			t.Error("the sweep continued after the revert")
		}
		wantReason(t, d.post(late, "free sub"), "OK")
		wantReason(t, d.post(servertest.Raider, "hello"), "USER_BANNED") // the owner's afterglow
	})
}

// TestRevertOfADeletedModerator reverts a moderator whose account is being deleted, and was.
func TestRevertOfADeletedModerator(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		crowd := servertest.AddUsers(t, d.Store, 2)
		for _, id := range crowd {
			d.mustBan(servertest.Moderator, id)
		}
		deleteUser := func(id uid.ID) {
			t.Helper()
			if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: id.String()}); err != nil {
				t.Fatal(err)
			}
		}
		deleteUser(crowd[0])
		deleteUser(servertest.Moderator)
		// The eraser may have replaced the moderator or not.
		var results []string
		for deadline := time.Now().Add(10 * time.Second); len(results) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			for _, id := range []uid.ID{servertest.Moderator, users.Deleted} {
				r, err := d.Moderation.RevertModerator(d.creds[servertest.Owner].Context(), &moderatov1.RevertModeratorRequest{
					ChannelId: servertest.Owner.String(), ModeratorId: id.String(), Since: start.Proto(),
				})
				if err != nil && reason(err) != "USER_NOT_FOUND" {
					t.Fatal(err)
				}
				for _, row := range r.GetResults() {
					results = append(results, row.GetUserId())
				}
			}
		}
		if !slices.Equal(results, []string{crowd[1].String()}) {
			t.Errorf("lifted: %q, want %s", results, crowd[1])
		}
	})
}
