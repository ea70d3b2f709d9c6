package standings_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
)

// TestChatServersConverge makes random changes through two servers, while chat servers open
// streams, resume them and begin anew. In the end all answer like the server.
func TestChatServersConverge(t *testing.T) {
	t.Parallel()
	const writers, changes, readers = 4, 60, 3
	eachPair(t, func(t *testing.T, d *drive, there *servertest.Server) {
		users := servertest.AddUsers(t, d.Store, 6)
		elsewhere := newDrive(t, there)
		var writing, reading sync.WaitGroup
		done := make(chan struct{})
		for i := range writers {
			writing.Go(func() {
				to := []*drive{d, elsewhere}[i%2]
				r := rand.New(rand.NewPCG(11, uint64(i)))
				for range changes {
					to.changeAtRandom(r, users)
				}
			})
		}
		go func() { writing.Wait(); close(done) }()
		for i := range readers {
			reading.Go(func() { follow(t, i, d, there, done, users) })
		}
		reading.Wait()
	})
}

// changeAtRandom makes a change, which may be refused.
func (d *drive) changeAtRandom(r *rand.Rand, users []uid.ID) {
	channelID, userID := channels[r.IntN(len(channels))], users[r.IntN(len(users))]
	ctx, channel, user := d.as(channelID), channelID.String(), userID.String()
	switch r.IntN(9) {
	case 0, 1:
		_, _ = d.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user})
	case 2:
		_, _ = d.Moderation.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: channel, BanUserId: user, DurationSeconds: new(int64(1))})
	case 3:
		_, _ = d.Moderation.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: channel, BanUserId: user})
	case 4:
		_, _ = d.Moderation.MuteUser(ctx, &moderatov1.MuteUserRequest{ChannelId: channel, MutedUserId: user, DurationSeconds: new(int64(1 + r.IntN(100)))})
	case 5:
		_, _ = d.Moderation.RemoveMute(ctx, &moderatov1.RemoveMuteRequest{ChannelId: channel, MutedUserId: user})
	case 6:
		_, _ = d.channels.AddVip(ctx, &moderatov1.AddVipRequest{ChannelId: channel, UserId: user})
	case 7:
		_, _ = d.channels.RemoveVip(ctx, &moderatov1.RemoveVipRequest{ChannelId: channel, UserId: user})
	default:
		req := &moderatov1.BanUsersRequest{ChannelId: channel}
		for _, id := range users {
			req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id.String()})
		}
		if batch, err := d.Moderation.BanUsers(ctx, req); err == nil && r.IntN(2) == 0 {
			_, _ = d.Moderation.UndoBanBatch(ctx, &moderatov1.UndoBanBatchRequest{ChannelId: channel, BatchId: batch.GetBatchId()})
		}
	}
}

// follow is a chat server that opens streams to either server in turn until the changes are
// done. It resumes every stream but each third one, which it begins anew.
func follow(t *testing.T, number int, d *drive, there *servertest.Server, done <-chan struct{}, users []uid.ID) {
	service := d.AsService(t)
	asked := subscriber("chat-"+string(rune('a'+number)), channels...)
	if number == 0 {
		asked = subscriber("chat-all")
	}
	var view *view
	cursor := ""
	for turn := number; ; turn++ {
		if turn%3 == 2 {
			cursor = ""
		}
		asked.Cursor = cursor
		w := watch(t, []*servertest.Server{d.Server, there}[turn%2], service, asked, view)
		select {
		case <-done:
			time.Sleep(1100 * time.Millisecond) // the timed bans lapse: after that, nothing changes during the comparison
			w.wantSame(d.Server, service, channels, slices.Concat(users, everyone))
			return
		case <-time.After(40 * time.Millisecond):
		}
		w.waitFor("a complete state", func() bool { return w.complete > 0 })
		view, cursor = w.stop()
	}
}
