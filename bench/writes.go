package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	measure := func(channels, connections int) (row, error) {
		r := row{
			What: fmt.Sprintf("%s, %d channel(s)", what, channels), Store: store, Transport: "gRPC", Connections: connections,
			Note: "each is a ban and its unban, in two durable transactions",
		}
		if connections == mainConnections {
			r.Target = banTargets[channels][store]
		}
		r, err := b.inTurns(ctx, r, floor, moderato, banLoad(channels, floorModerators), banLoad(channels, moderators))
		if r.Moderato.Database > 0 {
			r.Note += fmt.Sprintf("; the database's processor time %s, for the floor %s", short(r.Moderato.Database), short(r.Floor.Database))
		}
		return r, err
	}
	for _, connections := range banConnections {
		r, err := measure(1, connections)
		if err != nil {
			return err
		}
		b.plotBans(store+": Moderato", connections, r.Moderato)
		b.plotBans(store+": floor", connections, r.Floor)
		if connections == 1 || connections == mainConnections {
			_ = b.report(r, nil)
		}
	}
	if err := b.report(measure(ownedChannels, mainConnections)); err != nil {
		return err
	}
	moderato.stop()
	floor.pause(true)
	defer floor.pause(false)
	return b.plotSeparateBans(ctx, store, db, banLoad(1, moderators))
}

// plotSeparateBans measures a server that commits each change in a transaction of its own, as
// Moderato did before changes shared transactions. On a slow disk, such a server rejects changes
// when many connections send them, and its line in the plot ends at that number.
func (b *bench) plotSeparateBans(ctx context.Context, store, db string, l load) error {
	s, err := b.startModerato(ctx, db, "--disable-shared-transactions")
	if err != nil {
		return err
	}
	defer s.stop()
	for _, connections := range banConnections {
		f, err := l.measure(ctx, s, connections, b.leg)
		if status.Code(err) == codes.Unavailable {
			b.say("%s: %d connections overload a server without shared transactions", store, connections)
			return nil
		}
		if err != nil {
			return err
		}
		b.plotBans(store+": a transaction for each change", connections, f)
	}
	return nil
}

// banConnections are the numbers of connections in the plot of bans.
var banConnections = []int{1, 4, 16, mainConnections, 64, 256}

// banTargets are the least ratios to the floor, which runs the same statements one after the
// other, by the number of channels and the store.
var banTargets = map[int]map[string]float64{
	1:             {"sqlite": 4, "mariadb": 4},
	ownedChannels: {"sqlite": 3, "mariadb": 1.2},
}

// plotBans adds the bans a second of a program to the plot.
func (b *bench) plotBans(name string, connections int, f figures) {
	p := plot{
		File: "bans-by-connections.svg", Axis: "connections", Title: "Pairs of a ban and its unban a second in one channel",
		Format: func(value float64) string { return thousands(int(value)) },
	}
	b.addPoint(p, name, point{connections, f.PerSecond})
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
