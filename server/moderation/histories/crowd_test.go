package histories_test

import (
	"context"
	"sync"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/servertest"
	"github.com/moderato-live/moderato/server/uid"
)

// crowdChannels is how many channels a crowd moderates: more than the transactions that
// changes of different channels share on a database server.
const crowdChannels = 8

// crowd moderates other channels than that of the history, at the same time, so that changes
// of the history share transactions with those of other channels.
type crowd struct {
	owners []servertest.Credentials
	ids    []uid.ID
}

func newCrowd(t *testing.T, s *servertest.Server) *crowd {
	t.Helper()
	c := &crowd{ids: servertest.AddChannels(t, s.Store, crowdChannels)}
	for _, id := range c.ids {
		c.owners = append(c.owners, s.As(t, id))
	}
	return c
}

// during has the crowd ban and unban users while f runs. A call may fail, as when its
// connection to the database is cut.
func (c *crowd) during(p *peers, users []uid.ID, f func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, id := range c.ids {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				moderation := moderatov1.NewModerationServiceClient(p.at(n))
				user := users[n%len(users)].String()
				_, _ = moderation.BanUser(as(ctx, c.owners[i]), &moderatov1.BanUserRequest{ChannelId: id.String(), BanUserId: user})
				_, _ = moderation.RemoveBan(as(ctx, c.owners[i]), &moderatov1.RemoveBanRequest{ChannelId: id.String(), BanUserId: user})
			}
		})
	}
	f()
	cancel()
	all.Wait()
}
