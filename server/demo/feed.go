package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
)

const (
	day       = 24 * time.Hour
	feedVideo = "https://video.example.com/clips/"
	lastEpoch = 42
)

// liveChannels are the channels that are live.
var liveChannels = []int{0, 2, 4, 7, 9}

// feed generates the records that the platform's backends would have sent about the
// channels: their audience, streams, clips, VODs, votes and activities. All times are
// relative to now, and the records are in an order that can be imported.
type feed struct {
	*world
	now        instant.Instant
	pictures   string
	categories map[string]int64
	records    []*platformv1.Record
}

func (w *world) feed(now instant.Instant, pictures string) []*platformv1.Record {
	f := &feed{world: w, now: now, pictures: pictures, categories: categoryIDs()}
	for i := range channels {
		r := stream(feedStream + uint64(i)) // one per channel, so that a new channel does not change the others
		f.audience(r, i)
		f.streams(r, i)
		f.content(r, i)
		f.votes(r, i)
		f.raids(i)
		f.activities(i)
	}
	return f.records
}

func (f *feed) add(record *platformv1.Record) { f.records = append(f.records, record) }

func (f *feed) id(user int) string { return f.people[user].ID.String() }

// ago returns a random instant. It lies at least a minute, and less than a minute
// plus most, before now.
func (f *feed) ago(r *rand.Rand, most time.Duration) instant.Instant {
	return f.now.Add(-time.Minute - time.Duration(r.Int64N(most.Milliseconds()))*time.Millisecond)
}

// audience generates the follows and subscriptions of a channel. Some followers
// subscribe, and a few users subscribe without following.
func (f *feed) audience(r *rand.Rand, channel int) {
	crowd := 1 + popularity(channel)
	for user := range f.people {
		if user == channel {
			continue
		}
		follows := r.IntN(10) < crowd
		if follows {
			most := 400 * day
			if r.IntN(12) == 0 {
				most = time.Hour // during the live stream, if there is one
			}
			f.add(&platformv1.Record{Kind: &platformv1.Record_Follow{Follow: &platformv1.FollowRecord{
				ChannelId: f.id(channel), UserId: f.id(user), FollowedAt: f.ago(r, most).Proto(), IsNotificationEnabled: r.IntN(3) > 0,
			}}})
		}
		if (follows && r.IntN(6) == 0) || r.IntN(60) == 0 {
			f.subscribe(r, channel, user)
		}
	}
}

// popularity returns how many users out of ten follow a channel, minus one.
func popularity(channel int) int { return 7 - channel/2 }

func (f *feed) subscribe(r *rand.Rand, channel, user int) {
	began := f.ago(r, 28*day)
	renewed := max(0, r.Int64N(12)-4)
	if r.IntN(5) == 0 { // expired
		began = began.Add(-60 * day)
	}
	f.add(&platformv1.Record{Kind: &platformv1.Record_Subscription{Subscription: &platformv1.SubscriptionRecord{
		ChannelId: f.id(channel), UserId: f.id(user), SubscribedAt: began.Proto(), ExpiresAt: began.Add(30 * day).Proto(),
		RenewCount: renewed, StreakCount: 1 + r.Int64N(renewed+1),
	}}})
}

// streams generates a channel's past streams, each with its VOD, and a live stream if
// the channel is live.
func (f *feed) streams(r *rand.Rand, channel int) {
	c := channels[channel]
	for week := between(r, 3, 4); week > 0; week-- {
		started := f.now.Add(-time.Duration(week)*7*day - time.Duration(r.IntN(300))*time.Minute)
		length := time.Duration(between(r, 60, 300)) * time.Minute
		title := fmt.Sprintf("%s, part %d", c.title, 40-week)
		f.add(&platformv1.Record{Kind: &platformv1.Record_Stream{Stream: &platformv1.StreamRecord{
			ChannelId: f.id(channel), StartedAt: started.Proto(), EndedAt: started.Add(length).Proto(),
			Title: title, ViewerCount: r.Int64N(900),
		}}})
		id := randomID(r)
		f.add(&platformv1.Record{Kind: &platformv1.Record_Vod{Vod: &platformv1.VodRecord{
			Id: id.String(), ChannelId: f.id(channel), Title: title, ViewCount: r.Int64N(20_000), Duration: int64(length.Seconds()),
			PreviewImgUrl: f.pictures + "stream.svg", StartedAt: started.Proto(), EndedAt: started.Add(length).Proto(),
			CategoryId: f.categories[c.category],
		}}})
	}
	if slices.Contains(liveChannels, channel) {
		f.add(&platformv1.Record{Kind: &platformv1.Record_Stream{Stream: &platformv1.StreamRecord{
			ChannelId: f.id(channel), StartedAt: f.now.Add(-time.Duration(between(r, 70, 200)) * time.Minute).Proto(),
			Title: c.title, Lang: c.lang, ViewerCount: int64(between(r, 20, 1500)),
		}}})
	}
}

// clipTitles are titles of clips that fit any channel.
var clipTitles = []string{
	"Wait for it", "How did that work", "The cat approves", "Best laugh of the year", "Right on the last second",
	"Nobody saw this coming", "Chat was right", "The face at the end", "A small disaster", "Perfectly timed",
	"First try, of course", "The sound it made", "One take", "And then the doorbell", "We do not talk about this",
}

func (f *feed) content(r *rand.Rand, channel int) {
	for range between(r, 4, 7) {
		id := randomID(r)
		f.add(&platformv1.Record{Kind: &platformv1.Record_Clip{Clip: &platformv1.ClipRecord{
			ClipId: id.String(), ChannelId: f.id(channel), CreatorId: f.id(between(r, crowdStart, rowdyStart-1)),
			Title: pick(r, clipTitles), ViewCount: r.Int64N(9000), Duration: int64(between(r, 8, 60)),
			PreviewImgUrl: f.pictures + "clip.svg", ClipUrl: feedVideo + id.String() + ".mp4",
			CategoryId: f.categories[channels[channel].category], CreatedAt: f.ago(r, 90*day).Proto(),
		}}})
	}
}

// votes generates the votes of the last three weeks.
func (f *feed) votes(r *rand.Rand, channel int) {
	for epoch := int64(lastEpoch - 2); epoch <= lastEpoch; epoch++ {
		for range between(r, 3, 8) {
			voter := f.people[between(r, crowdStart, rowdyStart-1)]
			weeksAgo := time.Duration(lastEpoch-epoch) * 7 * day
			f.add(&platformv1.Record{Kind: &platformv1.Record_Vote{Vote: &platformv1.VoteRecord{
				Id: randomID(r).String(), ChannelId: f.id(channel), Epoch: epoch, Username: voter.Username,
				Address: fmt.Sprintf("0x%016x", r.Uint64()), Amount: int64(between(r, 1, 500)),
				VotedAt: f.ago(r, 6*day).Add(-weeksAgo).Proto(),
			}}})
		}
	}
}

// raids generates two raids of a channel by other channels. They are friendly: a channel
// that ends its stream sends its viewers.
func (f *feed) raids(channel int) {
	for n, distance := range []int{3, 7} {
		raider := (channel + distance) % len(channels)
		f.add(&platformv1.Record{Kind: &platformv1.Record_Raid{Raid: &platformv1.RaidRecord{
			ChannelId: f.id(channel), Key: fmt.Sprintf("demo-%d", n), RaiderId: f.id(raider), ViewerCount: int64(20 + 90*n + 7*channel),
			RaidedAt: f.now.Add(-time.Duration(n*7+1)*day - time.Duration(channel)*time.Hour).Proto(),
		}}})
	}
}

// activities generates three activities of each of the five kinds.
func (f *feed) activities(channel int) {
	thanks := []string{"Thank you for last night", "Best stream all week", "For the cat"}
	for i := range 3 {
		for kind, more := range map[string]map[string]any{
			"follower":   {},
			"subscriber": {"renewCount": float64(i)},
			"gift":       {"count": float64(5 * (i + 1))},
			"thanks":     {"amount": float64(100 * (i + 1)), "message": thanks[i]},
			"vote":       {"amount": float64(10 * (i + 1)), "epoch": float64(lastEpoch - i)},
		} {
			f.activity(channel, i, kind, more)
		}
	}
	// Sort by time, the order in which a backend would have sent them.
	last := f.records[len(f.records)-15:]
	slices.SortFunc(last, func(a, b *platformv1.Record) int {
		return a.GetActivity().GetCreatedAt().AsTime().Compare(b.GetActivity().GetCreatedAt().AsTime())
	})
}

// activityOrder spreads the kinds over the hours, so that each has its own time.
var activityOrder = []string{"follower", "subscriber", "gift", "thanks", "vote"}

func (f *feed) activity(channel, round int, kind string, info map[string]any) {
	place := slices.Index(activityOrder, kind)
	user := crowdStart + (channel*37+round*11+place*5)%(rowdyStart-crowdStart)
	info["userId"] = f.id(user)
	fields, err := structpb.NewStruct(info)
	if err != nil {
		panic(err) // unreachable: the values are generated here
	}
	f.add(&platformv1.Record{Kind: &platformv1.Record_Activity{Activity: &platformv1.ActivityRecord{
		ChannelId: f.id(channel), Key: fmt.Sprintf("demo-%s-%d", kind, round), Type: kind, Info: fields,
		CreatedAt: f.now.Add(-time.Duration(round*7+place+1) * time.Hour).Proto(),
	}}})
}
