package moderation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// say posts messages of a user in a channel, and returns their ids.
func (d *drive) say(channelID, user uid.ID, texts ...string) []string {
	d.t.Helper()
	var ids []string
	for _, text := range texts {
		r, err := d.Chat.PostMessage(d.chat.Context(), &platformv1.PostMessageRequest{
			ChannelId: channelID.String(), UserId: user.String(), Text: text,
		})
		if err != nil {
			d.t.Fatal(err)
		}
		ids = append(ids, r.GetMessage().GetId())
	}
	return ids
}

// numbered returns the texts "1" to "n".
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint(i + 1)
	}
	return texts
}

// evidence returns the texts of the evidence in the latest entry of a type about a user.
func (d *drive) evidence(kind string, user uid.ID) []string {
	d.t.Helper()
	page, err := d.Moderation.ListLog(d.creds[servertest.Owner].Context(), &moderatov1.ListLogRequest{
		ChannelId: servertest.Owner.String(), UserId: user.String(), Type: []string{kind},
	})
	if err != nil || len(page.GetRows()) == 0 {
		d.t.Fatal(page, err)
	}
	texts := []string{}
	for _, m := range page.GetRows()[0].GetSanction().GetEvidence() {
		texts = append(texts, m.GetText())
	}
	return texts
}

// TestEvidenceIsTheLatestMessages bans and mutes users singly and as a batch. Their
// entries have at most ten messages each: those that were visible in this channel, or deleted alone.
func TestEvidenceIsTheLatestMessages(t *testing.T) {
	latest := []string{"12", "11", "10", "9", "8", "7", "6", "5", "4", "3"}
	for name, sanction := range map[string]struct {
		kind  string
		apply func(d *drive, users []uid.ID)
	}{
		"ban": {"channel.ban", func(d *drive, users []uid.ID) {
			for _, id := range users {
				d.mustBan(servertest.Moderator, id)
			}
		}},
		"mute": {"channel.mute", func(d *drive, users []uid.ID) {
			for _, id := range users {
				d.mustMute(servertest.Moderator, id)
			}
		}},
		"batch": {"channel.ban", func(d *drive, users []uid.ID) { d.banAll(servertest.Moderator, users...) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d *drive) {
				frozen(t, d)
				users := servertest.AddUsers(t, d.Store, 5)
				none, one, ten, many, hidden := users[0], users[1], users[2], users[3], users[4]
				d.say(servertest.Owner, hidden, "muted")
				d.mustMute(servertest.Owner, hidden) // hides it
				wantReason(t, d.unmute(servertest.Owner, hidden), "OK")
				deleted := d.say(servertest.Owner, hidden, "deleted", "left")
				_, err := moderatov1.NewChatServiceClient(d.Conn).DeleteMessage(d.creds[servertest.Owner].Context(),
					&moderatov1.DeleteMessageRequest{ChannelId: servertest.Owner.String(), MessageId: deleted[0]})
				wantReason(t, err, "OK")
				d.say(servertest.Owner, one, "hello 👋 <b>\"you\"</b>")
				d.say(servertest.Owner, ten, numbered(10)...)
				d.say(servertest.Owner, many, numbered(12)...)
				d.say(servertest.Other, many, "elsewhere")
				d.say(servertest.Other, none, "elsewhere")
				sanction.apply(d, users)
				for id, want := range map[uid.ID][]string{
					none: {}, one: {"hello 👋 <b>\"you\"</b>"}, ten: descending(numbered(10)), many: latest, hidden: {"left", "deleted"},
				} {
					if diff := cmp.Diff(want, d.evidence(sanction.kind, id)); diff != "" {
						t.Errorf("evidence (-want +got):\n%s", diff)
					}
				}
				d.wantVisible()
			})
		})
	}
}

// descending reverses texts.
func descending(texts []string) []string {
	slices.Reverse(texts)
	return texts
}

// TestLogShowsEvidence compares entries over REST: of a ban, of its end, which has no
// evidence, and of a ban from before evidence was kept.
func TestLogShowsEvidence(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		start := frozen(t, d)
		ids := d.say(servertest.Owner, servertest.Raider, "first", "second")
		d.mustBan(servertest.Moderator, servertest.Raider)
		wantReason(t, d.unban(servertest.Owner, servertest.Raider), "OK")
		entries := func() []any {
			query := channelQuery("userId", servertest.Raider.String(), "type[]", "channel.ban", "type[]", "channel.unban")
			rows, _ := data(t, d.REST(t, d.creds[servertest.Moderator], "GET", "/v1/moderation/log?"+query.Encode(), ""))["rows"].([]any)
			return rows
		}
		rows := entries()
		message := func(id, text string) any {
			return map[string]any{"messageId": id, "text": text, "sentAt": start.String()}
		}
		want := []any{message(ids[1], "second"), message(ids[0], "first")}
		if diff := cmp.Diff(want, rows[1].(map[string]any)["evidence"]); diff != "" {
			t.Errorf("evidence of the ban (-want +got):\n%s", diff)
		}
		if got, has := rows[0].(map[string]any)["evidence"]; has {
			t.Errorf("the end of the ban has the evidence %v", got)
		}
		if _, err := d.Store.DB().Exec("UPDATE events SET evidence = NULL"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{}, entries()[1].(map[string]any)["evidence"]); diff != "" {
			t.Errorf("evidence of a ban from before (-want +got):\n%s", diff)
		}
	})
}

// TestEvidenceOfDeletedUserIsHiddenImmediately deletes a banned user: the log hides the
// messages before the eraser removes them.
func TestEvidenceOfDeletedUserIsHiddenImmediately(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		d.say(servertest.Owner, servertest.Raider, "hello")
		d.mustBan(servertest.Moderator, servertest.Raider)
		if _, err := d.Directory.DeleteUser(d.chat.Context(), &platformv1.DeleteUserRequest{UserId: servertest.Raider.String()}); err != nil {
			t.Fatal(err)
		}
		page := d.log(d.creds[servertest.Owner], channelQuery("type[]", "channel.ban"))
		if n := len(page.Data.Rows); n != 1 || len(page.Data.Rows[0].Evidence) != 0 {
			t.Errorf("%d entries, the first with the evidence %v", n, page.Data.Rows[0].Evidence)
		}
	})
}
