package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// platform is the data set for the load of a whole platform. Its users who own no channel
// post, follow and are banned.
var platform = dataset{name: "platform", users: 200_000, channels: 10_000, categories: 50, followed: ownedChannels, followers: 10, moderators: 1}

var (
	// zipfExponents are the distributions of load: the share of the nth channel is
	// proportional to n to the power of minus the exponent. With 0 all channels have the same.
	zipfExponents = []float64{0, 1, 1.5}
	// zipfFirstRate is the operations a second of the first step. Each step has half as
	// many again, until a limit is reached or zipfSteps have run.
	zipfFirstRate = 200.0
	zipfSteps     = 8
	zipfLeg       = 5 * time.Second
	// zipfListeners listen to chat, over the channels as the load is.
	zipfListeners = 200
)

// operation is a kind of call that the platform's load consists of.
type operation struct {
	name    string
	percent int
	// isChange is true if the call takes the lock of its channel.
	isChange bool
	call     func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, user int) error
}

var operations = []operation{
	{"post", 40, false, func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, user int) error {
		_, err := platformv1.NewChatServiceClient(conn).PostMessage(z.service.outgoing(ctx),
			&platformv1.PostMessageRequest{ChannelId: id(channel), UserId: id(z.poster(user)), Text: "a message of usual length in chat"})
		return err
	}},
	{"standing", 30, false, func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, user int) error {
		_, err := platformv1.NewChatServiceClient(conn).GetStanding(z.service.outgoing(ctx),
			&platformv1.GetStandingRequest{ChannelId: id(channel), UserId: id(z.poster(user))})
		return err
	}},
	{"stats", 15, false, func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, _ int) error {
		_, err := moderatov1.NewChannelsServiceClient(conn).GetStats(z.owner(channel).outgoing(ctx), &moderatov1.GetStatsRequest{ChannelId: id(channel)})
		return err
	}},
	{"follow", 10, true, func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, user int) error {
		_, err := platformv1.NewAudienceServiceClient(conn).Follow(z.service.outgoing(ctx), &platformv1.FollowRequest{ChannelId: id(channel), UserId: id(z.poster(user))})
		return err
	}},
	{"ban", 5, true, func(ctx context.Context, z *zipf, conn *grpc.ClientConn, channel, user int) error {
		// Users from the last ones on; nobody else's call names them.
		banned := platform.users - 1 - user%(platform.users/4)
		_, err := moderatov1.NewModerationServiceClient(conn).BanUser(z.owner(channel).outgoing(ctx),
			&moderatov1.BanUserRequest{ChannelId: id(channel), BanUserId: id(banned)})
		return err
	}},
}

// zipf is a server under the load of a platform.
type zipf struct {
	*bench
	store   string
	s       *server
	conns   []*grpc.ClientConn
	service credentials
	// owners are tokens of the owners of all channels.
	owners     []credentials
	cumulative []float64 // the share of the channels up to each one
	next       atomic.Int64
	frames     chatRun // of the listeners
}

// zipf raises the load of a platform with many channels until the first limit, with
// several distributions of the load over the channels.
func (b *bench) zipf(ctx context.Context, store string) error {
	if !b.wants("zipf", store, "gRPC") {
		return nil
	}
	for _, exponent := range zipfExponents {
		// Each distribution begins with the same rows.
		if err := b.forgetDatabase(store, platform.name); err != nil {
			return err
		}
		db, err := b.database(ctx, store, &platform)
		if err != nil {
			return err
		}
		z, closeAll, err := b.openZipf(ctx, store, db, exponent)
		if err == nil {
			err = z.raise(ctx, exponent)
			closeAll()
		}
		b.stopServers()
		if err != nil {
			return fmt.Errorf("zipf: %w", err)
		}
	}
	return nil
}

func (b *bench) openZipf(ctx context.Context, store, db string, exponent float64) (*zipf, func(), error) {
	z := &zipf{bench: b, store: store, cumulative: shares(platform.channels, exponent)}
	var err error
	if z.s, err = b.startModerato(ctx, db); err != nil {
		return nil, nil, err
	}
	if z.service, err = b.serviceToken(ctx, db); err != nil {
		return nil, nil, err
	}
	conns, closeConns, err := dial(ctx, z.s, 16)
	if err != nil {
		return nil, nil, err
	}
	z.conns = conns
	if err := z.issueTokens(ctx); err != nil {
		closeConns()
		return nil, nil, err
	}
	stop, err := z.listen(ctx)
	if err != nil {
		closeConns()
		return nil, nil, err
	}
	return z, func() { stop(); closeConns() }, nil
}

// issueTokens issues a token to the owner of each channel.
func (z *zipf) issueTokens(ctx context.Context) error {
	z.owners = make([]credentials, platform.channels)
	failures := make([]error, len(z.conns))
	var issuers sync.WaitGroup
	for i, conn := range z.conns {
		issuers.Go(func() {
			for n := i; n < len(z.owners) && failures[i] == nil; n += len(z.conns) {
				z.owners[n], failures[i] = issueUser(z.service.outgoing(ctx), conn, n)
			}
		})
	}
	issuers.Wait()
	return errors.Join(failures...)
}

// shares returns the cumulative shares of channels.
func shares(channels int, exponent float64) []float64 {
	cumulative := make([]float64, channels)
	sum := 0.0
	for n := range cumulative {
		sum += math.Pow(float64(n+1), -exponent)
		cumulative[n] = sum
	}
	for n := range cumulative {
		cumulative[n] /= sum
	}
	return cumulative
}

// channel draws a channel. The most popular one is channel 0.
func (z *zipf) channel(random *rand.Rand) int {
	n, _ := slices.BinarySearch(z.cumulative, random.Float64())
	return min(n, len(z.cumulative)-1)
}

// poster returns a user who owns no channel and is never banned.
func (*zipf) poster(user int) int {
	return platform.channels + user%(platform.users/4*3-platform.channels)
}

func (z *zipf) owner(channel int) credentials { return z.owners[channel] }

// listen opens event streams for chat, and returns a function that closes them.
func (z *zipf) listen(ctx context.Context) (stop func(), err error) {
	var open []net.Conn
	var listeners sync.WaitGroup
	stop = func() {
		for _, conn := range open {
			_ = conn.Close()
		}
		listeners.Wait()
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same load in each run
	for range zipfListeners {
		conn, err := listenTo(ctx, z.s, z.service, z.channel(random), "channel.chat.message")
		if err != nil {
			stop()
			return nil, err
		}
		open = append(open, conn)
		listeners.Go(func() { z.frames.listen(conn, false) })
	}
	return stop, nil
}

// raise raises the rate until the first limit, and reports the last rate without one.
func (z *zipf) raise(ctx context.Context, exponent float64) error {
	rate, reached, limit := zipfFirstRate, 0.0, ""
	var last step
	for range zipfSteps {
		got, err := z.step(ctx, rate, zipfLeg)
		if err != nil {
			return err
		}
		limit = got.limit()
		z.say("%s, exponent %g, %.0f/s: %s%s", z.store, exponent, rate, got, strings.TrimSuffix("; "+limit, "; "))
		if limit != "" {
			limit = fmt.Sprintf("; at %.0f/s: %s", rate, limit)
			break
		}
		reached, last = rate, got
		rate *= 1.5
	}
	if err := z.report(row{
		What:  fmt.Sprintf("zipf: operations a second on %s channels, exponent %g (%.2f %% in the busiest channel)", thousands(platform.channels), exponent, 100*z.cumulative[0]),
		Store: z.store, Transport: "gRPC", Connections: len(z.conns), Value: reached, Unit: "a second", Note: strings.TrimPrefix(last.String()+limit, "; "),
	}, nil); err != nil {
		return err
	}
	return z.capacities(ctx, exponent)
}

// capacities measures what does not depend on the other programs of the machine as much as
// the highest rate does: the processors' time of an operation, and, for the lock of the
// busiest channel, how many changes of one channel follow one another.
func (z *zipf) capacities(ctx context.Context, exponent float64) error {
	const callers = 64
	mix, err := z.saturate(ctx, callers, zipfLeg, z.draw)
	if err != nil {
		return err
	}
	one, err := z.saturate(ctx, callers, zipfLeg, drawBusiest)
	if err != nil {
		return err
	}
	changes := 0
	for _, op := range operations {
		if op.isChange {
			changes += op.percent
		}
	}
	server, database := mix.cost()
	note := fmt.Sprintf("each %s of the server and %s of the database; cores: %s; %.0f changes a second in one channel alone", short(server), short(database), mix.cores(), one.perSecond())
	if exponent > 0 {
		atLock := one.perSecond() / (float64(changes) / 100 * z.cumulative[0])
		note += fmt.Sprintf(", so its lock is the limit at %.0f operations a second, for which the others need %.0f cores", atLock, atLock*(server+database).Seconds())
	}
	return z.report(row{
		What:  fmt.Sprintf("zipf: operations a second with %d callers, exponent %g", callers, exponent),
		Store: z.store, Transport: "gRPC", Connections: len(z.conns), Value: mix.perSecond(), Unit: "a second", Note: note,
	}, nil)
}
