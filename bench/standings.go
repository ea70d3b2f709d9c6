package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// heldInChat is the data set for standings: a million bans in the channels from
// ownedChannels on, and none in the others.
var heldInChat = dataset{name: "standings", users: 120_000, channels: 200, categories: 1, followed: ownedChannels, followers: 10, moderators: 1}

const (
	snapshotBans = 1_000_000
	// chatServers is how many chat servers follow the standings of the first channels.
	chatServers = 100
	// changesPerSecond is how many bans and unbans are made a second in these channels. A
	// tenth are single ones, by changers connections; the others are those of batches of
	// batchOfChanges users and their undos, because a store may not commit so many
	// transactions a second.
	changesPerSecond = 1000
	singlesPerSecond = changesPerSecond / 10
	changers         = 16
	batchOfChanges   = 45
)

// standings measures a snapshot, and the time from the response to a ban until all chat
// servers have it.
func (b *bench) standings(ctx context.Context, store string) error {
	const what = "standings"
	if !b.wants(what, store, "gRPC") {
		return nil
	}
	db, err := b.database(ctx, store, &heldInChat)
	if err != nil {
		return err
	}
	if err := b.fillBans(ctx, store); err != nil {
		return err
	}
	service, err := b.serviceToken(ctx, db)
	if err != nil {
		return err
	}
	here, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	if err := b.snapshots(ctx, store, here, service); err != nil {
		return err
	}
	there, err := b.startModerato(ctx, db)
	if err != nil {
		return err
	}
	owners, err := b.issueOwners(ctx, here, db)
	if err != nil {
		return err
	}
	floor, err := fanOut(ctx, b.leg)
	if err != nil {
		return err
	}
	var all []figures
	for range b.rounds {
		f, err := (&spread{owners: owners, service: service}).run(ctx, here, there, b.leg)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b figures) int { return int(a.P99 - b.P99) })
	f := all[len(all)/2]
	return b.report(row{
		What: fmt.Sprintf("%s: p99 from the response to a ban until all of %d chat servers on another server have it, %d changes a second", what, chatServers, changesPerSecond), Store: store, Transport: "gRPC",
		Value: float64(f.P99) / float64(time.Millisecond), Unit: "ms", Target: 50, AtMost: true,
		Note: fmt.Sprintf("p50 %s, at %.0f changes a second; the floor, which writes frames of ready changes to as many connections: p99 %s", short(f.P50), f.PerSecond, short(floor)),
	}, nil)
}

// fillBans stores the bans, and removes those of an earlier run in the other channels.
func (b *bench) fillBans(ctx context.Context, store string) error {
	db, err := b.open(store, heldInChat.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM bans").Scan(&n); err != nil || n == snapshotBans {
		return err
	}
	for _, table := range []string{"bans", "message_generations", "events"} {
		if _, err := db.ExecContext(ctx, emptyTable[store]+table); err != nil {
			return err
		}
	}
	b.say("%s: storing %s bans …", store, thousands(snapshotBans))
	f := filler{db, store}
	channels := heldInChat.channels - ownedChannels
	return f.insert(ctx, "bans (channel_id, user_id, moderator_id, banned_at, reason, expires_at)", 0, snapshotBans-1,
		f.id(fmt.Sprintf("%d + n %% %d", ownedChannels, channels)), f.id("1000000 + n"), f.id(fmt.Sprintf("%d + n %% %d", ownedChannels, channels)),
		fmt.Sprintf("%d + n", firstInstant), "''", "CASE WHEN n % 10 = 0 THEN 4000000000000 + n END")
}

// snapshots measures the snapshot of all bans, in turns with the floor.
func (b *bench) snapshots(ctx context.Context, store string, s *server, service credentials) error {
	var took, floor []time.Duration
	for range b.rounds + 1 {
		began := time.Now()
		n, err := b.rawBans(ctx, store)
		if err == nil && n != snapshotBans {
			err = fmt.Errorf("the floor has %d bans", n)
		}
		if err != nil {
			return err
		}
		floor = append(floor, time.Since(began))
		began = time.Now()
		if n, err = readSnapshot(ctx, s, service); err == nil && n != snapshotBans {
			err = fmt.Errorf("the snapshot has %d bans", n)
		}
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	middle := func(all []time.Duration) time.Duration {
		all = all[1:] // the first one warms up
		slices.Sort(all)
		return all[len(all)/2]
	}
	raw := middle(floor)
	return b.report(row{
		What: fmt.Sprintf("standings: snapshot of %s bans over loopback", thousands(snapshotBans)), Store: store, Transport: "gRPC", Connections: 1,
		Value: middle(took).Seconds(), Unit: "s", Target: 3, AtMost: true,
		Note: fmt.Sprintf("the floor, which sends the rows of one statement as raw bytes: %s", short(raw)),
	}, nil)
}

// follow opens a stream of standings.
func follow(ctx context.Context, conn *grpc.ClientConn, service credentials, asked *platformv1.StandingsSubscription) (grpc.BidiStreamingClient[platformv1.WatchStandingsRequest, platformv1.WatchStandingsResponse], error) {
	stream, err := platformv1.NewChatServiceClient(conn).WatchStandings(service.outgoing(ctx))
	if err != nil {
		return nil, err
	}
	return stream, stream.Send(&platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Subscribe{Subscribe: asked}})
}

// readSnapshot reads a snapshot of all channels and returns how many bans it has.
func readSnapshot(ctx context.Context, s *server, service credentials) (bans int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return 0, err
	}
	defer closeAll()
	stream, err := follow(ctx, conns[0], service, &platformv1.StandingsSubscription{SubscriberName: "bench", AllChannels: true})
	if err != nil {
		return 0, err
	}
	for {
		m, err := stream.Recv()
		if err != nil || m.GetIsComplete() {
			return bans, err
		}
		for _, list := range m.GetSnapshot().GetBans() {
			bans += len(list.GetUserIds()) / 16
		}
	}
}

// spread is a run of changes that spread to chat servers. Each user is banned once and then
// unbanned, so a change is known by its user and kind.
type spread struct {
	owners  []credentials
	service credentials

	numbers  map[[16]byte]int // of the users
	answered [2][]time.Time   // when a ban, or an unban, was answered
	arrived  [2][]atomic.Int64
	counts   [2][]atomic.Int32
	changes  atomic.Int64 // of batches
}

// run makes changes through one server for some time, while chat servers follow another one.
func (p *spread) run(ctx context.Context, here, there *server, d time.Duration) (figures, error) {
	n := int(d.Seconds() * singlesPerSecond / 2)
	p.numbers = make(map[[16]byte]int, n)
	for k := range n {
		p.numbers[uuid.MustParse(id(firstOfCrowd+k))] = k
	}
	for kind := range p.answered {
		p.answered[kind], p.arrived[kind], p.counts[kind] = make([]time.Time, n), make([]atomic.Int64, n), make([]atomic.Int32, n)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conns, closeAll, err := dial(ctx, there, chatServers)
	if err != nil {
		return figures{}, err
	}
	defer closeAll()
	ready := make(chan error, chatServers)
	for i, conn := range conns {
		go p.listen(ctx, conn, i, ready)
	}
	for range conns {
		if err := <-ready; err != nil {
			return figures{}, err
		}
	}
	began := time.Now()
	batches := make(chan error, 1)
	changing, stopBatches := context.WithCancel(ctx)
	go func() { batches <- p.batches(changing, here) }()
	err = p.change(ctx, here, n)
	stopBatches()
	if err = errors.Join(err, <-batches); err != nil {
		return figures{}, err
	}
	elapsed := time.Since(began)
	time.Sleep(time.Second) // until the last ones arrive
	return p.figures(n, elapsed)
}

// listen is a chat server. It reports to ready when its state is complete.
func (p *spread) listen(ctx context.Context, conn *grpc.ClientConn, number int, ready chan<- error) {
	asked := &platformv1.StandingsSubscription{SubscriberName: fmt.Sprintf("chat-%d", number)}
	for c := range ownedChannels {
		asked.ChannelIds = append(asked.ChannelIds, id(c))
	}
	stream, err := follow(ctx, conn, p.service, asked)
	isReady := false
	var acknowledged time.Time
	for err == nil {
		var m *platformv1.WatchStandingsResponse
		if m, err = stream.Recv(); err != nil {
			break
		}
		now := time.Now()
		for _, c := range m.GetChanges() {
			p.note(c, now.UnixNano())
		}
		if m.GetIsComplete() {
			isReady = true
			ready <- nil
		}
		if m.GetCursor() != "" && now.Sub(acknowledged) > 250*time.Millisecond {
			acknowledged = now
			err = stream.Send(&platformv1.WatchStandingsRequest{Request: &platformv1.WatchStandingsRequest_Acknowledge{
				Acknowledge: &platformv1.StandingsAcknowledgement{Cursor: m.GetCursor(), SlowestMilliseconds: 1},
			}})
		}
	}
	if !isReady {
		ready <- err
	}
}

// note notes that a change arrived at a chat server.
func (p *spread) note(c *platformv1.StandingChange, at int64) {
	kind := 0
	switch c.GetKind() {
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_BAN:
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNBAN:
		kind = 1
	default:
		return
	}
	k, isOurs := p.numbers[[16]byte(c.GetUserId())]
	if !isOurs {
		return
	}
	for last := p.arrived[kind][k].Load(); last < at && !p.arrived[kind][k].CompareAndSwap(last, at); {
		last = p.arrived[kind][k].Load()
	}
	p.counts[kind][k].Add(1)
}

// change bans and unbans n users at a steady rate. If the server does not keep up, the rate
// is lower.
func (p *spread) change(ctx context.Context, s *server, n int) error {
	conns, closeAll, err := dial(ctx, s, changers)
	if err != nil {
		return err
	}
	defer closeAll()
	var next atomic.Int64
	failures := make([]error, len(conns))
	var workers sync.WaitGroup
	began := time.Now()
	for i, conn := range conns {
		workers.Go(func() {
			api := moderatov1.NewModerationServiceClient(conn)
			for k := int(next.Add(1)) - 1; k < n && failures[i] == nil; k = int(next.Add(1)) - 1 {
				time.Sleep(time.Until(began.Add(time.Duration(k) * 2 * time.Second / singlesPerSecond)))
				channel := k % ownedChannels
				ctx := p.owners[channel].outgoing(ctx)
				_, err := api.BanUser(ctx, &moderatov1.BanUserRequest{ChannelId: id(channel), BanUserId: id(firstOfCrowd + k)})
				p.answered[0][k] = time.Now()
				if err == nil {
					_, err = api.RemoveBan(ctx, &moderatov1.RemoveBanRequest{ChannelId: id(channel), BanUserId: id(firstOfCrowd + k)})
					p.answered[1][k] = time.Now()
				}
				failures[i] = err
			}
		})
	}
	workers.Wait()
	return errors.Join(failures...)
}

// batches bans and unbans users in batches at a steady rate, until ctx ends.
func (p *spread) batches(ctx context.Context, s *server) error {
	conns, closeAll, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	api := moderatov1.NewModerationServiceClient(conns[0])
	ticker := time.NewTicker(time.Second * batchOfChanges / (changesPerSecond - singlesPerSecond))
	defer ticker.Stop()
	for n := 0; ; n++ {
		channel := n % ownedChannels
		as := p.owners[channel].outgoing(context.WithoutCancel(ctx))
		req := &moderatov1.BanUsersRequest{ChannelId: id(channel)}
		for i := range batchOfChanges {
			req.Users = append(req.Users, &moderatov1.BatchTarget{UserId: id(firstOfCrowd + 100_000 + i)})
		}
		banned, err := api.BanUsers(as, req)
		p.changes.Add(batchOfChanges)
		<-ticker.C
		if err == nil {
			_, err = api.UndoBanBatch(as, &moderatov1.UndoBanBatchRequest{ChannelId: id(channel), BatchId: banned.GetBatchId()})
			p.changes.Add(batchOfChanges)
		}
		<-ticker.C
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// figures returns how long single bans took to arrive at all chat servers.
func (p *spread) figures(n int, elapsed time.Duration) (figures, error) {
	took := make([]time.Duration, n)
	for k := range n {
		if got := p.counts[0][k].Load(); got != chatServers {
			return figures{}, fmt.Errorf("a ban arrived at %d of %d chat servers", got, chatServers)
		}
		took[k] = max(0, time.Duration(p.arrived[0][k].Load()-p.answered[0][k].UnixNano()))
	}
	slices.Sort(took)
	return figures{PerSecond: float64(int64(2*n)+p.changes.Load()) / elapsed.Seconds(), P50: took[n/2], P99: took[n*99/100]}, nil
}
