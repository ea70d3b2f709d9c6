package feed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/test/servertest"
)

const poster = "https://img.example.com/live.png"

// given returns the timestamp of an instant in a request; 0 is omitted.
func given(at instant.Instant) *timestamppb.Timestamp {
	if at == 0 {
		return nil
	}
	return at.Proto()
}

func startStream(at instant.Instant) *platformv1.StartStreamRequest {
	return &platformv1.StartStreamRequest{ChannelId: servertest.Owner.String(), StartedAt: given(at)}
}

func endStream(start, end instant.Instant) *platformv1.EndStreamRequest {
	return &platformv1.EndStreamRequest{ChannelId: servertest.Owner.String(), StartedAt: given(start), EndedAt: given(end)}
}

// live is a stream in the form of its events.
type live struct {
	start       instant.Instant
	title, lang string
	category    int64
}

func (l live) online() storedEvent {
	return byBackend("stream.online", [16]byte{}, `%s"startedAt":%q,"endedAt":null,%s`, fromBackend(servertest.Owner), l.start, l.rest())
}

func (l live) offline(end instant.Instant) storedEvent {
	return byBackend("stream.offline", [16]byte{}, `%s"startedAt":%q,"endedAt":%q,%s`, fromBackend(servertest.Owner), l.start, end, l.rest())
}

func (l live) rest() string {
	name := map[int64]string{0: "Uncategorized", chess: "Chess", music: "Music"}[l.category]
	return fmt.Sprintf(`"title":%q,"lang":%q,"categoryId":%d,"categoryTitle":%q}`, l.title, l.lang, l.category, name)
}

// ofChannel returns a stream with all properties of the World's channel.
func ofChannel(start instant.Instant) live {
	return live{start: start, title: "Any% until it works", lang: "en"}
}

// wantStream checks that REST returns the stream; without a start, the channel as it is
// after the stream.
func (f *platformFeed) wantStream(l live, viewers int, picture string) {
	f.t.Helper()
	owner, isLive, start := f.owners[servertest.Owner], l.start != 0, "null"
	if isLive {
		start = fmt.Sprintf("%q", l.start)
	}
	category := map[int64]string{0: "Uncategorized", chess: "Chess", music: "Music"}[l.category]
	f.wantREST(owner, "/stream-info", `{"isLive":%t,"title":%q,"previewImgUrl":%q,"startedAt":%s,"category":{"id":%d,"title":%q}}`,
		isLive, l.title, picture, start, l.category, category)
	f.wantREST(owner, "/live-stats", `{"startedAt":%s,"isLive":%t,"newFollowerCount":0,"newSubscriberCount":0,"viewerCount":%d}`, start, isLive, viewers)
	f.wantREST(owner, "/stats", `{"followerCount":0,"subscriberCount":0,"viewerCount":%d}`, viewers)
	for _, category := range []int64{0, chess, music} {
		all, lives := int64(0), int64(0)
		if category == 0 {
			all = 1 // Other's channel
		}
		if category == l.category {
			all++
			if isLive {
				lives++
			}
		}
		if a, b := f.count(category, false), f.count(category, true); a != all || b != lives {
			f.t.Errorf("category %d has %d channels, %d live, want %d, %d", category, a, b, all, lives)
		}
	}
	servertest.CheckCounters(f.t, f.Store, "streaming")
}

func TestStreamLifecycle(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		start, category, viewers, picture := f.now, int64(chess), int64(12), poster
		request := &platformv1.StartStreamRequest{
			ChannelId: servertest.Owner.String(), Title: " Rook endings ", Lang: "PT-br", CategoryId: &category, PreviewImgUrl: poster, ViewerCount: 3,
		}
		want := &platformv1.StreamRecord{
			ChannelId: servertest.Owner.String(), StartedAt: start.Proto(), Title: "Rook endings", Lang: "pt-BR", CategoryId: &category,
			PreviewImgUrl: poster, ViewerCount: 3,
		}
		answer := f.once(request)
		if got, _ := answer.(*platformv1.StartStreamResponse); !proto.Equal(got.GetStream(), want) {
			t.Errorf("StartStream answers %v, want %v", got, want)
		}
		f.to(start)
		l := live{start: start, title: "Rook endings", lang: "pt-BR", category: chess}
		f.wantEvents(servertest.Owner, l.online())
		f.wantStream(l, 3, poster)
		f.wantREST(f.owners[servertest.Owner], "?type=live",
			`{"count":1,"rows":[{"id":%q,"title":"Rook endings","displayName":"Inês Carvalho","bio":"","slug":"ines","avatarUrl":"https://img.example.com/Ines.png","lang":"pt-BR","isLive":true,"followerCount":0,"category":{"id":7,"name":"Chess","slug":"chess","imageUrl":""}}],"pagination":{"cursor":""}}`,
			servertest.Owner)

		update := &platformv1.UpdateStreamRequest{ChannelId: servertest.Owner.String(), ViewerCount: &viewers}
		want.ViewerCount = 12
		if got, _ := f.once(update).(*platformv1.UpdateStreamResponse); !proto.Equal(got.GetStream(), want) {
			t.Errorf("UpdateStream answers %v, want %v", got, want)
		}
		f.wantStream(l, 12, poster)
		picture = ""
		f.once(&platformv1.UpdateStreamRequest{ChannelId: servertest.Owner.String(), PreviewImgUrl: &picture})
		f.wantStream(l, 12, "")
		f.wantEvents(servertest.Owner)

		f.later(time.Hour)
		end := f.now
		f.once(endStream(0, 0))
		f.to(end)
		f.wantEvents(servertest.Owner, l.offline(end))
		l.start = 0
		f.wantStream(l, 0, "")
		f.refuse(update, "CHANNEL_NOT_LIVE")
		f.wantActivities(servertest.Owner)
	})
}

// TestStreamDefaultsComeFromChannel omits each field in turn. The stream must have the
// value that the previous stream wrote to the channel.
func TestStreamDefaultsComeFromChannel(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		none, category := int64(0), int64(music)
		for _, step := range []struct {
			title, lang string
			category    *int64
			want        live
		}{
			{"", "", nil, live{title: "Any% until it works", lang: "en"}},
			{"Scales", "", nil, live{title: "Scales", lang: "en"}},
			{"", "de", nil, live{title: "Scales", lang: "de"}},
			{"  ", "", &category, live{title: "Scales", lang: "de", category: music}},
			{"", "", nil, live{title: "Scales", lang: "de", category: music}},
			{"", "", &none, live{title: "Scales", lang: "de"}},
		} {
			f.must(&platformv1.StartStreamRequest{ChannelId: servertest.Owner.String(), Title: step.title, Lang: step.lang, CategoryId: step.category})
			step.want.start = f.now
			f.wantEvents(servertest.Owner, step.want.online())
			f.wantStream(step.want, 0, "")
			f.must(endStream(0, 0))
			f.wantEvents(servertest.Owner, step.want.offline(f.now))
			f.later(time.Hour)
		}
	})
}

// TestStartStreamRepeatedAndReplaced distinguishes a repeated start from the start of
// another stream.
func TestStartStreamRepeatedAndReplaced(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		first := ofChannel(f.now.Add(-time.Hour))
		answer := f.once(startStream(first.start))
		f.later(-2 * time.Minute)
		f.wantEvents(servertest.Owner, first.online())
		f.repeat(startStream(0), answer) // without a start, the call means the live stream
		f.repeat(&platformv1.StartStreamRequest{ChannelId: servertest.Owner.String(), StartedAt: first.start.Proto(), Title: "Another"}, answer)
		f.refuse(startStream(first.start-1), "INVALID_ARGUMENT",
			"startedAt must not be before the start of the live stream, "+first.start.String())

		// A later start ends the running stream at that start.
		second := ofChannel(first.start + 60000)
		f.once(startStream(second.start))
		f.later(-2 * time.Minute)
		f.wantEvents(servertest.Owner, first.offline(second.start), second.online())
		f.wantStream(second, 0, "")

		// The first start, repeated late, returns the ended stream, which does not become
		// live again.
		f.wantEnded(startStream(first.start), first.start, second.start)
		f.wantStream(second, 0, "")

		f.must(endStream(second.start, 0))
		f.wantEvents(servertest.Owner, second.offline(f.now))
		f.later(time.Hour)
		f.wantEnded(startStream(second.start), second.start, f.now.Add(-time.Hour))
		f.wantEnded(startStream(first.start), first.start, second.start)
		over := ofChannel(0)
		f.wantStream(over, 0, "")
		f.wantEvents(servertest.Owner)
	})
}

// wantEnded checks that a repeated start returns the stream with its end.
func (f *platformFeed) wantEnded(request *platformv1.StartStreamRequest, start, end instant.Instant) {
	f.t.Helper()
	before, none := f.dump(), int64(0)
	want := &platformv1.StartStreamResponse{Stream: &platformv1.StreamRecord{
		ChannelId: servertest.Owner.String(), StartedAt: start.Proto(), EndedAt: end.Proto(), Title: "Any% until it works", Lang: "en", CategoryId: &none,
	}}
	if got := f.must(request); !proto.Equal(got, want) {
		f.t.Errorf("a repeated start answers %v, want %v", got, want)
	}
	if diff := cmp.Diff(before, f.dump()); diff != "" {
		f.t.Errorf("a repeated start changed (-before +after):\n%s", diff)
	}
}

func TestEndStream(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		l := ofChannel(f.now)
		f.repeat(endStream(0, 0), &platformv1.EndStreamResponse{}) // no stream is live
		f.repeat(endStream(l.start, 0), &platformv1.EndStreamResponse{})
		f.must(startStream(l.start))
		f.seen[servertest.Owner] = 1

		f.repeat(endStream(l.start-1, 0), &platformv1.EndStreamResponse{}) // the start is that of another stream
		f.repeat(endStream(l.start+1, l.start), &platformv1.EndStreamResponse{})
		f.wantEvents(servertest.Owner)
		f.wantStream(l, 0, "")
		f.refuse(endStream(0, l.start-1), "INVALID_ARGUMENT", "endedAt must not be before the start of the live stream, "+l.start.String())

		at := f.now
		f.once(endStream(l.start, l.start)) // a stream may end at its start
		f.to(at)
		f.wantEvents(servertest.Owner, l.offline(l.start))
		over := ofChannel(0)
		f.wantStream(over, 0, "")
	})
}

// TestStreamWithFutureStart ends a stream before its start: it must end at its start.
func TestStreamWithFutureStart(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		l := ofChannel(f.now.Add(time.Hour))
		f.must(startStream(l.start))
		f.wantEvents(servertest.Owner, l.online())
		f.must(endStream(0, 0))
		f.wantEvents(servertest.Owner, l.offline(l.start))
	})
}

func TestUpdateStreamRequiresChange(t *testing.T) {
	eachFeed(t, func(_ *testing.T, f *platformFeed) {
		f.must(startStream(0))
		f.refuse(&platformv1.UpdateStreamRequest{ChannelId: servertest.Owner.String()}, "INVALID_ARGUMENT",
			"viewerCount is required, or previewImgUrl instead")
	})
}

// TestStreamStartCountsEarlierAudience starts a stream with a start in the past.
func TestStreamStartCountsEarlierAudience(t *testing.T) {
	eachFeed(t, func(t *testing.T, f *platformFeed) {
		start := f.now.Add(-time.Hour)
		for user, since := range map[string]instant.Instant{
			servertest.Viewer.String(): start, servertest.Raider.String(): start - 1, servertest.Other.String(): start.Add(time.Minute),
		} {
			f.must(&platformv1.FollowRequest{ChannelId: servertest.Owner.String(), UserId: user, FollowedAt: since.Proto()})
			f.must(&platformv1.PutSubscriptionRequest{Subscription: &platformv1.SubscriptionRecord{
				ChannelId: servertest.Owner.String(), UserId: user, SubscribedAt: since.Proto(), ExpiresAt: f.now.Add(month).Proto(),
			}})
		}
		f.must(startStream(start))
		f.wantREST(f.owners[servertest.Owner], "/live-stats",
			`{"startedAt":%q,"isLive":true,"newFollowerCount":2,"newSubscriberCount":2,"viewerCount":0}`, start)
		f.must(startStream(start.Add(time.Second)))
		f.wantREST(f.owners[servertest.Owner], "/live-stats",
			`{"startedAt":%q,"isLive":true,"newFollowerCount":1,"newSubscriberCount":1,"viewerCount":0}`, start.Add(time.Second))
		servertest.CheckCounters(t, f.Store, "after the start")
	})
}
