package moderation_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

func (d *drive) card(as servertest.Credentials, user uid.ID) *moderatov1.GetUserResponse {
	d.t.Helper()
	got, err := d.Moderation.GetUser(as.Context(), &moderatov1.GetUserRequest{ChannelId: servertest.Owner.String(), UserId: user.String(), Include: "card"})
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

func TestCardHasSanctionsAndTheirEvidence(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		moderator, raider := d.creds[servertest.Moderator], servertest.Raider.String()
		d.mustPost(servertest.Raider, "first")
		first := d.card(moderator, servertest.Raider)
		d.Store.Clock.Advance(time.Minute)
		d.mustPost(servertest.Raider, "second")
		batch := d.banAll(servertest.Moderator, servertest.Raider)
		_, err := d.Moderation.MuteUser(d.creds[servertest.Owner].Context(), &moderatov1.MuteUserRequest{
			ChannelId: servertest.Owner.String(), MutedUserId: raider, Reason: new("caps"), DurationSeconds: new(int64(60)),
		})
		wantReason(t, err, "OK")
		d.mustBan(servertest.Owner, servertest.Viewer)

		got := d.card(moderator, servertest.Raider)
		ban, mute := got.GetBan().GetSanction(), got.GetMute().GetSanction()
		if ban.GetBatchId() != batch.GetBatchId() || ban.GetCause() != "batch" || ban.GetModerator().GetSlug() != "tomasz_wrona" {
			t.Errorf("the ban is %v", ban)
		}
		if mute.GetReason() != "caps" || mute.GetCause() != "moderator" || mute.BatchId != nil || mute.GetModerator().GetSlug() != "ines" ||
			!mute.GetExpiresAt().AsTime().Equal(got.GetMute().GetMuteExpiresAt().AsTime()) {
			t.Errorf("the mute is %v", mute)
		}
		var types []string
		for _, e := range got.GetCard().GetLog() {
			types = append(types, e.GetType())
		}
		if strings.Join(types, " ") != "channel.mute channel.chat.clear_user_messages channel.ban" &&
			strings.Join(types, " ") != "channel.chat.clear_user_messages channel.mute channel.chat.clear_user_messages channel.ban" {
			t.Errorf("the log has %v", types)
		}
		if evidence := got.GetCard().GetLog()[len(types)-1].GetSanction().GetEvidence(); len(evidence) != 2 || evidence[1].GetText() != "first" {
			t.Errorf("the evidence is %v", evidence)
		}
		account := got.GetCard().GetAccount()
		if want := first.GetMessages()[0].GetCreatedAt().AsTime(); !account.GetFirstMessageAt().AsTime().Equal(want) || account.GetCreatedAt() != nil {
			t.Errorf("the account is %v; want the first message at %v, which is deleted", account, want)
		}
		created := timestamppb.New(time.UnixMilli(1_500_000_000_000))
		d.Load(t, &platformv1.Record{Kind: &platformv1.Record_User{User: &platformv1.UserRecord{Id: servertest.Viewer.String(), Username: "amara.okafor", CreatedAt: created}}})
		if account := d.card(moderator, servertest.Viewer).GetCard().GetAccount(); !account.GetCreatedAt().AsTime().Equal(created.AsTime()) {
			t.Errorf("the account was created at %v", account.GetCreatedAt().AsTime())
		}
		if account := d.card(moderator, servertest.Viewer).GetCard().GetAccount(); account.GetFirstMessageAt() != nil {
			t.Errorf("the account of a user without messages is %v", account)
		}
		query := channelQuery("userId", raider, "include", "card")
		r := d.REST(t, moderator, "GET", userPath+"?"+query.Encode(), "")
		for _, want := range []string{`"ban":{"bannedAt":`, `"batchId":"` + batch.GetBatchId() + `","cause":"batch","moderator":{`, `"account":{"createdAt":null,"firstMessageAt":"`, `"log":[{`, `"elsewhere":[]`} {
			if !strings.Contains(r.Body, want) {
				t.Errorf("the card over REST is without %s: %s", want, r.Body)
			}
		}
		plain, err := d.Moderation.GetUser(moderator.Context(), &moderatov1.GetUserRequest{ChannelId: servertest.Owner.String(), UserId: raider})
		if err != nil || plain.GetCard() != nil || plain.GetBan().GetSanction() != nil || plain.GetMute().GetSanction() != nil {
			t.Errorf("without a card the user is %v, %v", plain, err)
		}
	})
}

// TestFirstMessageMayBeDeletedAlone deletes the first message of a user and leaves the second.
func TestFirstMessageMayBeDeletedAlone(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		owner := d.creds[servertest.Owner]
		d.mustPost(servertest.Viewer, "first")
		want := d.card(owner, servertest.Viewer).GetMessages()[0]
		d.Store.Clock.Advance(time.Minute)
		d.mustPost(servertest.Viewer, "second")
		if r := d.REST(t, owner, "DELETE", "/v1/chats/messages", `{"channelId":"`+servertest.Owner.String()+`","messageId":"`+want.GetMessageId()+`"}`); r.Status != 200 {
			t.Fatal(r.Body)
		}
		got := d.card(owner, servertest.Viewer)
		if len(got.GetMessages()) != 1 || !got.GetCard().GetAccount().GetFirstMessageAt().AsTime().Equal(want.GetCreatedAt().AsTime()) {
			t.Errorf("the account is %v, want the first message at %v", got.GetCard().GetAccount(), want.GetCreatedAt().AsTime())
		}
	})
}

func TestCardHasBansFromOwnAndModeratedChannels(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		foreign := servertest.AddChannels(t, d.Store, 1)[0]
		now, err := d.Store.Clock.Now(t.Context(), d.Store.Read)
		if err != nil {
			t.Fatal(err)
		}
		ban := func(channel, user uid.ID, expiresAt *timestamppb.Timestamp) *platformv1.Record {
			return &platformv1.Record{Kind: &platformv1.Record_Ban{Ban: &platformv1.BanRecord{
				ChannelId: channel.String(), UserId: user.String(), ModeratorId: channel.String(), BannedAt: now.Proto(), ExpiresAt: expiresAt, Reason: "raid",
			}}}
		}
		moderator := &platformv1.Record{Kind: &platformv1.Record_Role{Role: &platformv1.RoleRecord{
			ChannelId: foreign.String(), UserId: servertest.Owner.String(), Role: "moderator",
		}}}
		d.Load(t, ban(servertest.Other, servertest.Raider, now.Add(time.Hour).Proto()), ban(foreign, servertest.Raider, nil), moderator)
		d.mustBan(servertest.Owner, servertest.Raider)

		channels := func(as servertest.Credentials, want ...uid.ID) {
			t.Helper()
			var got, wanted []string
			for _, b := range d.card(as, servertest.Raider).GetCard().GetElsewhere() {
				got = append(got, b.GetChannel().GetId())
			}
			for _, id := range want {
				wanted = append(wanted, id.String())
			}
			if slices.Sort(got); !slices.Equal(got, wanted) {
				t.Errorf("the user is banned elsewhere from %v, want %v", got, wanted)
			}
		}
		channels(d.creds[servertest.Owner], foreign)
		channels(d.creds[servertest.Moderator], servertest.Other)
		channels(d.AsService(t))
		row := d.card(d.creds[servertest.Moderator], servertest.Raider).GetCard().GetElsewhere()[0]
		if row.GetChannel().GetSlug() != "zoe-l" || row.GetReason() != "raid" || !row.GetBannedAt().AsTime().Equal(now.Time()) ||
			!row.GetExpiresAt().AsTime().Equal(now.Add(time.Hour).Time()) {
			t.Errorf("the ban is %v", row)
		}
		d.Store.Clock.Advance(time.Hour)
		channels(d.creds[servertest.Moderator])
		d.Load(t, ban(foreign, servertest.Owner, nil))
		channels(d.creds[servertest.Owner])
	})
}

func TestUnknownIncludeIsRefused(t *testing.T) {
	each(t, func(t *testing.T, d *drive) {
		r := d.REST(t, d.creds[servertest.Owner], "GET", userPath+"?"+channelQuery("userId", servertest.Viewer.String(), "include", "cards").Encode(), "")
		if r.Status != 400 || !strings.Contains(r.Body, `"field":"include"`) {
			t.Errorf("got %d %s, want 400 for include", r.Status, r.Body)
		}
	})
}

// TestCardIsOfOneInstant bans a user between two statements of a card.
func TestCardIsOfOneInstant(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url store.URL) {
		var gate storetest.Gate
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		s := servertest.Start(t, config)
		s.Load(t, servertest.World()...)
		d := newDrive(t, s)
		d.mustPost(servertest.Raider, "hello")

		held := gate.Shut("FROM users u\n\t\tLEFT JOIN bans b")
		var got *moderatov1.GetUserResponse
		answered := make(chan error, 1)
		go func() {
			var err error
			got, err = d.Moderation.GetUser(d.creds[servertest.Owner].Context(), &moderatov1.GetUserRequest{
				ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Include: "card",
			})
			answered <- err
		}()
		select {
		case <-held:
		case err := <-answered:
			t.Fatalf("the card was answered without its statement: %v", err)
		}
		d.mustBan(servertest.Moderator, servertest.Raider)
		gate.Open()
		wantReason(t, <-answered, "OK")
		if got.GetBan() != nil || len(got.GetMessages()) != 1 || len(got.GetCard().GetLog()) != 0 {
			t.Errorf("the card has the ban %v, the messages %v and the log %v; want it as it was before the ban", got.GetBan(), got.GetMessages(), got.GetCard().GetLog())
		}
	})
}

// scanned matches a step that reads every row, or every entry of an index, of a table of a card.
var scanned = regexp.MustCompile(`SCAN (m|e|r|b|own|mutes|f|subscriptions|held_messages) |table=(m|e|r|b|own|mutes|f|subscriptions|held_messages) type=(ALL|index) `)

// TestCardReadsFewRows checks the plans of the statements of a card.
func TestCardReadsFewRows(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		d, recorder := newRecordedDrive(t, url)
		d.mustPost(servertest.Raider, "hello")
		d.mustBan(servertest.Moderator, servertest.Raider)
		before := len(recorder.Sent())
		d.card(d.creds[servertest.Owner], servertest.Raider)
		for _, q := range recorder.Sent()[before:] {
			storetest.WantByKey(t, d.Store, q)
			if plan := storetest.Explain(t, d.Store, q); scanned.MatchString(plan) {
				t.Errorf("%s\nreads every row:\n%s", q.Text, plan)
			}
		}
	})
}
