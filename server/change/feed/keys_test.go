package feed_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// ofKey returns a call of each kind that has a key, with the name of the key's field.
func ofKey(key string) map[string]struct {
	request proto.Message
	field   string
} {
	return map[string]struct {
		request proto.Message
		field   string
	}{
		"vote":     {vote(key), "id"},
		"gift":     {gift(key), "key"},
		"thanks":   {thanks(key), "key"},
		"follower": {putActivity(key, "follower", nil), "activity.key"},
	}
}

// TestKeyBelongsToOneKind uses one key for two kinds of record, in every order.
func TestKeyBelongsToOneKind(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		i := 0
		for kind := range ofKey("") {
			i++
			key := fmt.Sprintf("0b6fabab-0000-4000-8000-%012d", i)
			f.must(ofKey(key)[kind].request)
			for another, c := range ofKey(key) {
				if another != kind {
					f.refuse(c.request, "INVALID_ARGUMENT", c.field+" belongs to another activity of the channel, of type "+kind)
				}
			}
		}
	})
}

// TestKeysAreScopedToChannel uses the keys of one channel in another channel.
func TestKeysAreScopedToChannel(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		f.must(gift("1"))
		f.must(putActivity("2", "follower", nil))
		f.must(edit(thanks("1"), []string{"channelId"}, servertest.Other.String()))
		f.must(edit(gift("2"), []string{"channelId"}, servertest.Other.String()))
	})
}

// TestExistingActivityMakesCallARepeat stores an activity, like an import, before the
// call that would record it.
func TestExistingActivityMakesCallARepeat(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		put, _ := f.must(putActivity("a", "gift", map[string]any{"count": 9})).(*platformv1.PutActivityResponse)
		before := f.dump()
		got, _ := f.must(gift("a")).(*platformv1.RecordGiftResponse)
		if !proto.Equal(got.GetActivity(), put.GetActivity()) {
			t.Errorf("RecordGift answers %v, want %v", got, put)
		}
		f.same(before)

		// For a vote, the activity is not sufficient: the vote itself is recorded.
		f.must(putActivity(vote1, "vote", map[string]any{"amount": 9}))
		f.once(vote(vote1))
		f.wantREST(f.owners[servertest.Owner], "/votes?channelId="+servertest.Owner.String()+"&epoch=0",
			`[{"id":%q,"username":"amara.okafor","address":"","amount":3,"votedAt":%q}]`, vote1, f.now.Add(-2*60e9))
		f.seen[servertest.Owner] = 0
		f.to(f.now.Add(-2 * 60e9))
		f.wantEvents(servertest.Owner, byBackend("channel.vote", servertest.Viewer,
			`%s"id":%q,"userId":%q,"username":"amara.okafor","userDisplayName":"Amara Okafor","address":"","epoch":0,"amount":3,"votedAt":%q}`,
			fromBackend(servertest.Owner), vote1, servertest.Viewer, f.now))
		f.wantActivities(servertest.Owner,
			noteOf("gift", servertest.Viewer, f.now, "%s", amaraInfoWith(`"count":9,;`)),
			noteOf("vote", servertest.Viewer, f.now, "%s", amaraInfoWith(`"amount":9,;`)))
	})
}

// TestImportedVoteMakesCallARepeat records an imported vote again, which must create no
// event and no activity.
func TestImportedVoteMakesCallARepeat(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		record := &platformv1.VoteRecord{Id: vote1, ChannelId: servertest.Owner.String(), Username: "Somebody", Amount: 1 << 60, Epoch: 4, VotedAt: f.now.Proto()}
		f.Load(t, &platformv1.Record{Kind: &platformv1.Record_Vote{Vote: record}})
		f.repeat(vote(vote1), &platformv1.RecordVoteResponse{Vote: record})
	})
}
