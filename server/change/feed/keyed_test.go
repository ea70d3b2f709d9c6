package feed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

const most = 1<<53 - 1

// offer is the action of an activity in its stored form.
const offer = `{"again":true,"label":"Thank","n":9007199254740991}`

func offered() *structpb.Struct {
	return object(map[string]any{"label": "Thank", "again": true, "n": most})
}

func gift(key string) *platformv1.RecordGiftRequest {
	return &platformv1.RecordGiftRequest{ChannelId: servertest.Owner.String(), Key: key, UserId: servertest.Viewer.String(), Count: 5}
}

func thanks(key string) *platformv1.RecordThanksRequest {
	return &platformv1.RecordThanksRequest{ChannelId: servertest.Owner.String(), Key: key, UserId: servertest.Viewer.String(), Amount: 250}
}

func vote(id string) *platformv1.RecordVoteRequest {
	return &platformv1.RecordVoteRequest{ChannelId: servertest.Owner.String(), Id: id, UserId: servertest.Viewer.String(), Amount: 3}
}

func putActivity(key, kind string, info map[string]any) *platformv1.PutActivityRequest {
	full := map[string]any{"userId": servertest.Viewer.String()}
	for name, value := range info {
		full[name] = value
	}
	return &platformv1.PutActivityRequest{Activity: &platformv1.ActivityRecord{
		ChannelId: servertest.Owner.String(), Key: key, Type: kind, Info: object(full),
	}}
}

// answered returns an activity in the form that calls return.
func (f *platformFeed) answered(key string, n storedActivity) *platformv1.ActivityRecord {
	f.t.Helper()
	r := &platformv1.ActivityRecord{
		ChannelId: servertest.Owner.String(), Key: key, Type: n.kind, CreatedAt: n.at.Proto(), Info: &structpb.Struct{}, Action: &structpb.Struct{},
	}
	for text, into := range map[string]*structpb.Struct{n.info: r.GetInfo(), n.action: r.GetAction()} {
		if err := into.UnmarshalJSON([]byte(text)); err != nil {
			f.t.Fatal(err)
		}
	}
	return r
}

func amaraInfoWith(format string, args ...any) string {
	fields := strings.Split(fmt.Sprintf(format, args...), ";") // the fields before and after the user's own fields, by name
	return fmt.Sprintf(`{%s"displayName":"Amara Okafor",%s"slug":"amara.okafor","userId":"0b6f0003-0000-4000-8000-00000000000c"}`, fields[0], fields[1])
}

func TestGift(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		bare, full := gift("gift 1"), gift("  "+strings.Repeat("ü", 64)+" ")
		full.Count, full.GiftedAt, full.Action = most, f.now.Add(-time.Hour).Proto(), offered()
		for _, c := range []struct {
			request *platformv1.RecordGiftRequest
			key     string
			want    storedActivity
		}{
			{bare, "gift 1", noteOf("gift", servertest.Viewer, f.now, "%s", amaraInfoWith(`"count":5,;`))},
			{full, strings.Repeat("ü", 64), storedActivity{"gift", servertest.Viewer.String(), f.now.Add(-time.Hour), amaraInfoWith(`"count":9007199254740991,;`), offer}},
		} {
			at := f.now
			got, _ := f.once(c.request).(*platformv1.RecordGiftResponse)
			if want := f.answered(c.key, c.want); !proto.Equal(got.GetActivity(), want) {
				t.Errorf("RecordGift answers %v, want %v", got, want)
			}
			changed, _ := proto.Clone(c.request).(*platformv1.RecordGiftRequest)
			changed.Count, changed.UserId = 77, servertest.Raider.String()
			f.repeat(changed, got)
			f.to(at)
			f.wantEvents(servertest.Owner, byBackend("channel.subscription.gift", servertest.Viewer, `%s%s,"key":%q,"count":%d,"giftedAt":%q}`,
				fromBackend(servertest.Owner), amaraEvent, c.key, c.request.GetCount(), c.want.at))
			f.wantActivities(servertest.Owner, c.want)
		}
		f.wantREST(f.owners[servertest.Owner], "/activities?type=gift&limit=1",
			`{"rows":[{"id":1,"type":"gift","createdAt":%q,"info":{"count":5,"displayName":"Amara Okafor","slug":"amara.okafor","userId":%q},"action":{}}],"pagination":{"cursor":%s}}`,
			f.now, servertest.Viewer, f.cursor("/activities?type=gift&limit=1"))
		f.wantREST(f.owners[servertest.Owner], "/stats", `{"followerCount":0,"subscriberCount":0,"viewerCount":0}`)
	})
}

func TestThanks(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		bare, full := thanks("thanks 1"), thanks("thanks 2")
		full.Amount, full.Message, full.ThankedAt, full.Action = most, ` "gg" <3 `, f.now.Add(-time.Hour).Proto(), offered()
		for _, c := range []struct {
			request *platformv1.RecordThanksRequest
			message string
			want    storedActivity
		}{
			{bare, "", noteOf("thanks", servertest.Viewer, f.now, "%s", amaraInfoWith(`"amount":250,;"message":"",`))},
			{full, `\"gg\" <3`, storedActivity{"thanks", servertest.Viewer.String(), f.now.Add(-time.Hour), amaraInfoWith(`"amount":9007199254740991,;"message":"\"gg\" <3",`), offer}},
		} {
			at := f.now
			got, _ := f.once(c.request).(*platformv1.RecordThanksResponse)
			if want := f.answered(c.request.GetKey(), c.want); !proto.Equal(got.GetActivity(), want) {
				t.Errorf("RecordThanks answers %v, want %v", got, want)
			}
			f.to(at)
			f.wantEvents(servertest.Owner, byBackend("channel.thanks", servertest.Viewer, `%s%s,"key":%q,"amount":"%d","message":"%s","thankedAt":%q}`,
				fromBackend(servertest.Owner), amaraEvent, c.request.GetKey(), c.request.GetAmount(), c.message, c.want.at))
			f.wantActivities(servertest.Owner, c.want)
		}
	})
}

func TestVote(t *testing.T) {
	const vote2 = "0b6fabab-0000-4000-8000-000000000002"
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		bare, full := vote(vote1), vote(vote2)
		full.Amount, full.Epoch, full.Address, full.VotedAt, full.Action = most, most, " 0x00f ", f.now.Add(-time.Hour).Proto(), offered()
		for _, c := range []struct {
			request *platformv1.RecordVoteRequest
			address string
			want    storedActivity
		}{
			{bare, "", noteOf("vote", servertest.Viewer, f.now, "%s", amaraInfoWith(`"amount":3,;"epoch":0,`))},
			{full, "0x00f", storedActivity{"vote", servertest.Viewer.String(), f.now.Add(-time.Hour), amaraInfoWith(`"amount":9007199254740991,;"epoch":9007199254740991,`), offer}},
		} {
			at, r := f.now, c.request
			want := &platformv1.VoteRecord{
				Id: r.GetId(), ChannelId: servertest.Owner.String(), Epoch: r.GetEpoch(), Username: "amara.okafor", Address: c.address,
				Amount: r.GetAmount(), VotedAt: c.want.at.Proto(),
			}
			got, _ := f.once(r).(*platformv1.RecordVoteResponse)
			if !proto.Equal(got.GetVote(), want) {
				t.Errorf("RecordVote answers %v, want %v", got, want)
			}
			changed := vote(r.GetId())
			changed.UserId, changed.Amount = servertest.Raider.String(), 77
			f.repeat(changed, got)
			f.to(at)
			f.wantEvents(servertest.Owner, byBackend("channel.vote", servertest.Viewer,
				`%s"id":%q,"userId":%q,"username":"amara.okafor","userDisplayName":"Amara Okafor","address":%q,"epoch":%d,"amount":%d,"votedAt":%q}`,
				fromBackend(servertest.Owner), r.GetId(), servertest.Viewer, c.address, r.GetEpoch(), r.GetAmount(), c.want.at))
			f.wantActivities(servertest.Owner, c.want)
		}
		f.wantREST(f.owners[servertest.Owner], "/votes?channelId="+servertest.Owner.String()+"&epoch=all",
			`[{"id":%q,"username":"amara.okafor","address":"","amount":3,"votedAt":%q},{"id":%q,"username":"amara.okafor","address":"0x00f","amount":9007199254740991,"votedAt":%q}]`,
			vote1, f.now, vote2, f.now.Add(-time.Hour))

		elsewhere := vote(vote1)
		elsewhere.ChannelId = servertest.Other.String()
		f.refuse(elsewhere, "INVALID_ARGUMENT", "channelId must be that of the present vote, which does not change")
	})
}

func TestPutAndReplaceActivity(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		at := f.now
		want := noteOf("thanks", servertest.Viewer, at, `{"displayName":"A.","raiders":9007199254740991,"slug":"amara.okafor","userId":%q}`, servertest.Viewer)
		put := putActivity(" raid 1 ", "thanks", map[string]any{"raiders": most, "displayName": "A.", "slug": 5, "userId": strings.ToUpper(servertest.Viewer.String())})
		got, _ := f.once(put).(*platformv1.PutActivityResponse)
		if want := f.answered("raid 1", want); !proto.Equal(got.GetActivity(), want) {
			t.Errorf("PutActivity answers %v, want %v", got, want)
		}
		f.wantActivities(servertest.Owner, want)

		// A replacement keeps the number, and the time unless a new one is given.
		put = putActivity("raid 1", "thanks", map[string]any{"userId": servertest.Raider.String()})
		put.Activity.Action = offered()
		want = storedActivity{"thanks", servertest.Raider.String(), at, fmt.Sprintf(`{"displayName":"Loot \"Goblin\" 77","slug":"lootgoblin77","userId":%q}`, servertest.Raider), offer}
		got, _ = f.once(put).(*platformv1.PutActivityResponse)
		if want := f.answered("raid 1", want); !proto.Equal(got.GetActivity(), want) {
			t.Errorf("PutActivity answers %v, want %v", got, want)
		}
		f.noted[servertest.Owner] = 0
		f.wantActivities(servertest.Owner, want)
		put.Activity.CreatedAt, want.at = (at - 5).Proto(), at-5
		f.once(put)
		f.noted[servertest.Owner] = 0
		f.wantActivities(servertest.Owner, want)
		f.wantREST(f.owners[servertest.Owner], "/activities",
			`{"rows":[{"id":1,"type":"thanks","createdAt":%q,"info":%s,"action":%s}],"pagination":{"cursor":""}}`, at-5, want.info, offer)
		f.wantEvents(servertest.Owner)
	})
}
