package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// writes measures bans with unbans, of distinct users, in one channel and in many.
// Moderato and the floor have separate databases, because what the floor writes would
// be work for Moderato.
func (b *bench) writes(ctx context.Context, store string) error {
	const what = "ban and unban"
	if !b.wants(what, store, "gRPC") {
		return nil
	}
	db, err := b.database(ctx, store, &writes)
	if err != nil {
		return err
	}
	floorDB, err := b.database(ctx, store, &floorWrites)
	if err != nil {
		return err
	}
	moderato, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	moderators, err := b.issueOwners(ctx, moderato, db)
	if err != nil {
		return err
	}
	floorModerators, err := b.floorOwners(ctx, floorDB)
	if err != nil {
		return err
	}
	floor, err := b.startFloor(ctx, floorDB)
	if err != nil {
		return err
	}
	for _, channels := range []int{1, ownedChannels} {
		r := row{
			What: fmt.Sprintf("%s, %d channel(s)", what, channels), Store: store, Transport: "gRPC", Connections: mainConnections, Target: 0.8,
			Note: "each is a ban and its unban, in two durable transactions",
		}
		err := b.report(b.inTurns(ctx, r, floor, moderato, banLoad(channels, floorModerators), banLoad(channels, moderators)))
		if err != nil {
			return err
		}
	}
	return nil
}

// floorOwners issues tokens in the floor's database. The floor reads them as Moderato
// does.
func (b *bench) floorOwners(ctx context.Context, db string) ([]credentials, error) {
	s, err := b.startModerato(ctx, db)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	return b.issueOwners(ctx, s, db)
}

// banLoad returns a load that bans and unbans one user after the other.
func banLoad(channels int, moderators []credentials) load {
	var users atomic.Int64
	return rpcLoad(func(ctx context.Context, conn *grpc.ClientConn, _ *server, _ int) error {
		client := moderatov1.NewModerationServiceClient(conn)
		user := int(users.Add(1))
		channel := user % channels
		target := id(writes.followed + user%(writes.channels-writes.followed))
		ctx = moderators[channel].outgoing(ctx)
		if _, err := client.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: id(channel), BanUserId: target}); err != nil {
			return err
		}
		_, err := client.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: id(channel), BanUserId: target})
		return err
	})
}
