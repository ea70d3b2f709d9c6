package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// nextUser counts the users who were banned, so that each is another one.
var nextUser atomic.Int64

// banWhat begins what is measured of bans.
const banWhat = "bans and unbans of "

// banRows are bans with their unbans, and what follows do to them. A ban and its unban are two
// durable transactions.
func banRows() (all []measurement) {
	for _, channels := range []int{1, data.followed} {
		for _, connections := range []int{1, 32} {
			r := row{What: fmt.Sprintf(banWhat+"%d channels", channels), Transport: "gRPC", Connections: connections, Bound: 0.85}
			if channels == 1 {
				r.What = banWhat + "one channel"
			}
			if channels == 1 && connections == 32 {
				r.Bound = 3
			}
			all = append(all, measurement{row: r, group: "bans", run: func(ctx context.Context, p *pair, r row) error {
				return p.compare(ctx, r, rpcLoad(func(ctx context.Context, conn *grpc.ClientConn, s *server, n int) error {
					return banAndUnban(ctx, conn, s, n%channels)
				}))
			}})
		}
	}
	return append(all,
		measurement{row{What: "follows of one channel", Transport: "gRPC", Connections: 32, Unit: "a second", Bound: 1500}, "bans", false, follows},
		measurement{row{
			What: fmt.Sprintf("a ban and unban during %d follows a second of the channel, compared with the time without follows", besideFollows), Transport: "gRPC", Connections: 1,
			Unit: "× the time", Bound: 2, AtMost: true,
		}, "bans", false, bansBesideFollows})
}

// banAndUnban bans a user who was not banned before, and lifts the ban.
func banAndUnban(ctx context.Context, conn *grpc.ClientConn, s *server, channel int) error {
	client, target := moderatov1.NewModerationServiceClient(conn), id(user(int(nextUser.Add(1))))
	ctx = s.owners[channel].outgoing(ctx)
	if _, err := client.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: id(channel), BanUserId: target}); err != nil {
		return err
	}
	_, err := client.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: id(channel), BanUserId: target})
	return err
}

const (
	// mostFollows is more than a channel takes.
	mostFollows   = 4000
	besideFollows = 500
)

// follow makes users follow a channel at a steady rate until ctx ends, and returns how many did
// in a second.
func follow(ctx context.Context, s *server, perSecond int) (float64, error) {
	conns, closeAll, err := dial(ctx, s, 32)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	return steadily(ctx, conns, perSecond, func(ctx context.Context, conn *grpc.ClientConn, _ int) error {
		_, err := platformv1.NewAudienceServiceClient(conn).Follow(s.service.outgoing(ctx),
			&platformv1.FollowRequest{ChannelId: id(busy()), UserId: id(user(int(nextUser.Add(1))))})
		return err
	})
}

func follows(ctx context.Context, p *pair, r row) error {
	following, stop := context.WithTimeout(ctx, p.leg)
	defer stop()
	var err error
	r.Value, err = follow(following, p.moderato, mostFollows)
	return p.report(r, err)
}

func bansBesideFollows(ctx context.Context, p *pair, r row) error {
	conns, closeAll, err := dial(ctx, p.moderato, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	bans := func() (figures, error) {
		return timed(p.moderato, 200, func(int) error { return banAndUnban(ctx, conns[0], p.moderato, busy()) })
	}
	if _, err := bans(); err != nil { // the warm-up
		return err
	}
	alone, err := bans()
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		rate, err := follow(following, p.moderato, besideFollows)
		p.say("alone %s; %.0f follows a second came through", short(alone.P50), rate)
		ended <- err
	}()
	time.Sleep(time.Second) // until the rate of follows is steady
	r.Moderato, err = bans()
	stop()
	err = errors.Join(err, <-ended)
	r.Value = float64(r.Moderato.P50) / float64(alone.P50)
	return p.report(r, err)
}
