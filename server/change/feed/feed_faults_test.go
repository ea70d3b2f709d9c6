package feed_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestFeedConnectionLostInCommit loses the connection to the database in COMMIT, where
// the result is unknown. Each call must return its normal response, and its change must
// have one event and one activity.
func TestFeedConnectionLostInCommit(t *testing.T) {
	cuts := map[string][]storetest.Cut{
		"before it reached the server":            {storetest.BeforeCommit},
		"before its answer came back":             {storetest.AfterCommit},
		"twice before it reached the server":      {storetest.BeforeCommit, storetest.BeforeCommit},
		"first before it, then before its answer": {storetest.BeforeCommit, storetest.AfterCommit},
	}
	storetest.OneServer(t, func(t *testing.T, url store.URL) {
		proxy := storetest.NewProxy(t, url)
		s := servertest.Start(t, servertest.Config(proxy.URL))
		s.Load(t, servertest.World()...)
		f := newFeed(t, s)
		round := 0
		for name, cut := range cuts {
			round++
			at := f.now
			// cutting makes a call whose commits are lost, and checks that its response
			// is that of a repeat.
			cutting := func(request proto.Message) proto.Message {
				t.Helper()
				before := f.now
				proxy.CutNext(cut...)
				answer, err := f.call(f.ctx(), request)
				if err != nil || proxy.Made() != len(cut) {
					t.Fatalf("%T, cut %s: %v, %d cuts", request, name, err, proxy.Made())
				}
				f.repeat(request, answer)
				f.to(before)
				return answer
			}
			cutting(follow(0))
			f.wantEvents(servertest.Owner, byBackend("channel.follow", servertest.Viewer, fromBackend(servertest.Owner)+amaraEvent+`,"followedAt":%q,"unfollowedAt":null}`, at))
			f.wantActivities(servertest.Owner, noteOf("follower", servertest.Viewer, at, amaraInfo))

			cutting(gift(name))
			f.wantEvents(servertest.Owner, byBackend("channel.subscription.gift", servertest.Viewer, `%s%s,"key":%q,"count":5,"giftedAt":%q}`,
				fromBackend(servertest.Owner), amaraEvent, name, at))
			want := noteOf("gift", servertest.Viewer, at, "%s", amaraInfoWith(`"count":5,;`))
			f.wantActivities(servertest.Owner, want)

			cutting(withRoundKey(vote(vote1), round))
			f.seen[servertest.Owner]++
			f.wantEvents(servertest.Owner)
			f.wantActivities(servertest.Owner, noteOf("vote", servertest.Viewer, at, "%s", amaraInfoWith(`"amount":3,;"epoch":0,`)))

			p := period{from: at, to: at.Add(time.Hour)}
			cutting(period{to: p.to}.put())
			f.wantEvents(servertest.Owner, p.subscribed())
			f.wantActivities(servertest.Owner, p.note())
			cutting(endSubscription())
			f.wantEvents(servertest.Owner, period{from: at, to: at}.ended())

			l := ofChannel(at)
			cutting(startStream(0))
			f.wantEvents(servertest.Owner, l.online())
			cutting(endStream(0, 0))
			f.wantEvents(servertest.Owner, l.offline(at))

			cutting(&platformv1.PutClipRequest{Clip: aClip()})
			f.wantCounted(1, 0)
			cutting(&platformv1.DeleteClipRequest{ClipId: clip1})
			f.wantCounted(0, 0)
			cutting(putActivity(name+"!", "follower", nil))
			f.wantActivities(servertest.Owner, noteOf("follower", servertest.Viewer, at, amaraInfo))

			cutting(unfollow())
			f.wantEvents(servertest.Owner, byBackend("channel.unfollow", servertest.Viewer,
				fromBackend(servertest.Owner)+amaraEvent+`,"followedAt":%q,"unfollowedAt":%q}`, at, at))
			f.wantActivities(servertest.Owner)
			f.later(time.Hour)
		}
		checkNumbers(t, f)
		servertest.CheckCounters(t, f.Store, "after the cuts")
	})
}
