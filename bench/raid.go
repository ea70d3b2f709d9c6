package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const (
	raided   = 0 // the number of the raided channel
	fewPosts = 10
	// followsAt and mostFollows are how many follows a second are offered to a channel, and
	// leastFollows is how many of the latter it must take.
	followsAt    = 500
	mostFollows  = 4000
	leastFollows = 3000
)

// The users of the raid. None follows the channel. The user quiet has few messages,
// the user loud has many, and the users from others on have none.
var quiet, loud, others = writes.channels - 1, writes.channels - 2, 5000

// raid is a server on which users are banned one after the other.
type raid struct {
	*bench
	store      string
	conns      []*grpc.ClientConn
	moderators []credentials
	service    credentials
	next       int
	followers  int // how many users have followed
}

// raid measures bans of users with few and with many messages, and bans while the
// server has other work.
func (b *bench) raid(ctx context.Context, store string) error {
	db, err := b.database(ctx, store, &writes)
	if err != nil {
		return err
	}
	if b.wants("ban in a raid: messages, purger", store, "gRPC") {
		if err := b.bansByMessages(ctx, store, db); err != nil {
			return err
		}
	}
	if !b.wants("ban in a raid: follows", store, "gRPC") {
		return nil
	}
	if err := b.post(ctx, store, 0); err != nil {
		return err
	}
	r, err := b.openRaid(ctx, store, db)
	if err != nil {
		return err
	}
	if err := r.follows(ctx); err != nil {
		return err
	}
	return r.underFollows(ctx)
}

func (b *bench) bansByMessages(ctx context.Context, store, db string) error {
	posts := hundredThou * 10
	if b.large {
		posts *= 10
	}
	b.say("%s: posting %s messages …", store, thousands(posts))
	if err := b.post(ctx, store, posts); err != nil {
		return err
	}
	if store == "mariadb" { // only MariaDB reports the rows
		if err := b.touched(ctx, db, posts); err != nil {
			return err
		}
	}
	r, err := b.openRaid(ctx, store, db)
	if err != nil {
		return err
	}
	defer b.stopServers()
	return r.byMessages(ctx, posts)
}

func (b *bench) openRaid(ctx context.Context, store, db string) (*raid, error) {
	const connections = 1 + mainConnections // one that bans, the others follow
	s, err := b.startModerato(ctx, db)
	if err != nil {
		return nil, err
	}
	r := &raid{bench: b, store: store, next: others}
	if r.moderators, err = b.issueOwners(ctx, s, db); err != nil {
		return nil, err
	}
	if r.service, err = b.serviceToken(ctx, db); err != nil {
		return nil, err
	}
	r.conns, _, err = dial(ctx, s, connections)
	return r, err
}

// emptyTable is the statement that deletes all rows of a table, by store.
var emptyTable = map[string]string{"sqlite": "DELETE FROM ", "mariadb": "TRUNCATE "}

// post creates the messages, and deletes the messages, bans and follows of an earlier
// run.
func (b *bench) post(ctx context.Context, store string, posts int) error {
	db, err := b.open(store, writes.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	f := filler{db, store}
	channel := f.id(fmt.Sprint(raided))
	for _, statement := range []string{
		"DELETE FROM bans", "DELETE FROM message_generations", emptyTable[store] + "messages",
		"DELETE FROM follows WHERE channel_id = " + channel, "UPDATE channels SET follower_count = 0 WHERE id = " + channel,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	const into = "messages (id, channel_id, user_id, generation, text, sent_at)"
	at := fmt.Sprintf("%d + n", firstInstant)
	if err := f.insert(ctx, into, 0, fewPosts-1, f.id("n"), channel, f.id(fmt.Sprint(quiet)), "0", "'hello'", at); err != nil {
		return err
	}
	return f.insert(ctx, into, fewPosts, fewPosts+posts-1, f.id("n"), channel, f.id(fmt.Sprint(loud)), "0", "'spam spam spam'", at)
}

// ban bans a user; unban lifts the ban.
func (r *raid) ban(ctx context.Context, channel, user int) error {
	_, err := moderatov1.NewModerationServiceClient(r.conns[0]).BanUser(r.moderators[channel].outgoing(ctx),
		&moderatov1.BanUserRequest{ChannelId: id(channel), BanUserId: id(user)})
	return err
}

func (r *raid) unban(ctx context.Context, channel, user int) error {
	_, err := moderatov1.NewModerationServiceClient(r.conns[0]).RemoveBan(r.moderators[channel].outgoing(ctx),
		&moderatov1.RemoveBanRequest{ChannelId: id(channel), BanUserId: id(user)})
	return err
}

// both bans a user and lifts the ban.
func (r *raid) both(ctx context.Context, channel, user int) error {
	if err := r.ban(ctx, channel, user); err != nil {
		return err
	}
	return r.unban(ctx, channel, user)
}

// another bans a user who was not banned before, and lifts the ban.
func (r *raid) another(ctx context.Context, channel int) error {
	r.next++
	return r.both(ctx, channel, r.next)
}

// fewBans is how many bans are measured while something happens that ends soon.
const fewBans = 200

// bans returns the median time of n bans and unbans of users in others, as the mean of
// two medians.
func (r *raid) bans(ctx context.Context, channel, n int) (time.Duration, error) {
	first, second, err := timing(n/2, func() error { return r.another(ctx, channel) }, func() error { return r.another(ctx, channel) })
	return (first + second) / 2, err
}

// byMessages bans the quiet user and the loud user, and then measures bans of other users
// while the messages of these two are purged.
func (r *raid) byMessages(ctx context.Context, posts int) error {
	const bans = 100
	target := row{Store: r.store, Transport: "gRPC", Connections: 1, AtMost: true}
	alone, err := r.bans(ctx, raided+1, fewBans)
	if err != nil {
		return err
	}
	few, many, err := timing(bans,
		func() error { return r.both(ctx, raided, quiet) },
		func() error { return r.both(ctx, raided, loud) })
	if err != nil {
		return err
	}
	if err := r.purgeNow(ctx); err != nil {
		return err
	}
	meanwhile, err := r.bans(ctx, raided+1, fewBans)
	if err != nil {
		return err
	}
	left, err := r.messages(ctx)
	if err != nil {
		return err
	}
	target.What = fmt.Sprintf("ban and unban of a user with %s messages against %d", thousands(posts), fewPosts)
	target.Target = 1.2
	if err := r.report(compared(target, few, many), nil); err != nil {
		return err
	}
	target.What, target.Target = "ban and unban of others while the purger runs, against without", 1.5
	target.Note = thousands(left) + " messages were still to be purged at the end"
	return r.report(compared(target, alone, meanwhile), nil)
}

// touched compares how many rows the bans of the quiet user and of the loud user read
// and change, on a server that logs its statements.
func (b *bench) touched(ctx context.Context, db string, posts int) error {
	if err := b.mariadb.logStatements(ctx, true); err != nil {
		return err
	}
	r, err := b.openRaid(ctx, "mariadb", db)
	if err != nil {
		return err
	}
	for _, user := range []int{quiet, loud} {
		if err := r.both(ctx, raided, user); err != nil {
			return err
		}
	}
	b.stopServers()
	if err := b.mariadb.logStatements(ctx, false); err != nil {
		return err
	}
	few, err := b.mariadb.rowsTouched(ctx, id(quiet))
	if err != nil {
		return err
	}
	many, err := b.mariadb.rowsTouched(ctx, id(loud))
	return b.report(row{
		What:  fmt.Sprintf("rows that the ban of a user with %s messages touches, against %d", thousands(posts), fewPosts),
		Store: "mariadb", Value: float64(many) / float64(few), Unit: "× the rows", Target: 1, AtMost: true,
		Note: fmt.Sprintf("%d and %d rows looked at or changed", many, few),
	}, err)
}

// purgeNow makes the purge of all deleted messages due, as a day after the bans.
func (r *raid) purgeNow(ctx context.Context) error {
	db, err := r.open(r.store, writes.name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, "UPDATE message_generations SET restorable_until = 0, earlier_until = NULL, purge_at = 0 WHERE purge_at IS NOT NULL")
	return err
}

// messages returns the number of messages that are left.
func (r *raid) messages(ctx context.Context) (n int, err error) {
	db, err := r.open(r.store, writes.name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM messages").Scan(&n)
	return n, err
}

// follows measures how many follows a second a channel takes.
func (r *raid) follows(ctx context.Context) error {
	following, stop := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer stop()
	got := r.follow(following, mostFollows)
	return r.report(row{
		What: "follows of one channel", Store: r.store, Transport: "gRPC", Connections: len(r.conns) - 1,
		Value: got.perSecond, Unit: "a second", Target: leastFollows,
	}, got.err)
}

// underFollows measures bans while other users follow the same channel: some, and then more
// than it takes.
func (r *raid) underFollows(ctx context.Context) error {
	alone, err := r.bans(ctx, raided, fewBans)
	if err != nil {
		return err
	}
	for _, offered := range []int{followsAt, mostFollows} {
		following, stop := context.WithCancel(ctx)
		done := make(chan followed, 1)
		go func() { done <- r.follow(following, offered) }()
		time.Sleep(time.Second) // until the rate of follows is steady
		meanwhile, err := r.bans(ctx, raided, fewBans)
		stop()
		follows := <-done
		if err := errors.Join(err, follows.err); err != nil {
			return err
		}
		_ = r.report(compared(row{
			What:  fmt.Sprintf("ban and unban while %d follows a second are offered to the channel, against alone", offered),
			Store: r.store, Transport: "gRPC", Connections: 1, Target: 2,
			Note: fmt.Sprintf("%.0f follows a second came through", follows.perSecond),
		}, alone, meanwhile), nil)
	}
	return nil
}

// followed is the result of follow.
type followed struct {
	perSecond float64
	err       error
}

// follow makes users follow the channel at a steady rate, until ctx ends.
func (r *raid) follow(ctx context.Context, perSecond int) followed {
	ticks := make(chan int, perSecond)
	var through atomic.Int64
	var failure atomic.Pointer[error]
	var workers sync.WaitGroup
	for _, conn := range r.conns[1:] {
		workers.Go(func() {
			for user := range ticks {
				_, err := platformv1.NewAudienceServiceClient(conn).Follow(r.service.outgoing(context.WithoutCancel(ctx)),
					&platformv1.FollowRequest{ChannelId: id(raided), UserId: id(user)})
				if err != nil {
					failure.Store(&err)
				}
				through.Add(1)
			}
		})
	}
	start := time.Now()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for offered := 0; ctx.Err() == nil; {
		<-ticker.C
		for ; offered < int(time.Since(start).Seconds()*float64(perSecond)); offered++ {
			select {
			case ticks <- writes.followed + r.followers%(writes.channels-writes.followed):
				r.followers++
			default: // the server does not keep up
			}
		}
	}
	elapsed := time.Since(start)
	got := followed{perSecond: float64(through.Load()) / elapsed.Seconds()}
	close(ticks)
	workers.Wait()
	if err := failure.Load(); err != nil {
		got.err = *err
	}
	return got
}
