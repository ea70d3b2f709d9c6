package standing

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

const (
	idSize = len(uuid.UUID{})
	// Numbers of shards: each holds some thousand entries of a million.
	channelShardBits = 4
	userShardBits    = 8
	// expiryMargin is how long a ban or mute that ended is kept at least: longer than
	// clocks are wrong.
	expiryMargin = time.Minute
	// sweepInterval is the time between the examinations of two shards.
	sweepInterval = time.Second
)

// errMessage is the error for a message that violates the contract.
var errMessage = errors.New("a message violates the contract")

// state holds the standings of channels. One goroutine at a time may change it, while any
// number check.
type state struct {
	// channels maps ids to numbers, which are the second time of an entry. The first one
	// is the end of the examination of messages.
	channels *table
	// users has an entry for each user with a ban, mute or role, in the scope of the
	// channel's number. The first time is the end of the ban, the second that of the mute.
	users *table
	// isAll says that channels which it does not mention exist.
	isAll bool
	// swept is the number of shards that sweep has examined, and sweepAt when it continues.
	swept   int
	sweepAt int64
	// entries, mentioned and bytes are for Stats.
	entries, mentioned, bytes atomic.Int64
}

const (
	// isDeleted is the flag of a channel that does not exist.
	isDeleted uint64 = 1 << scopeBits
	// rolesShift is where the flags of a user's entry begin, which are Roles.
	rolesShift = scopeBits
)

// newState returns a state of channels, or of all channels if there are none.
func newState(channels []uuid.UUID) *state {
	s := &state{channels: newTable(channelShardBits), users: newTable(userShardBits), isAll: len(channels) == 0}
	s.channels.seeds, s.users.seeds = []uint64{0}, []uint64{0}
	s.users.loading = true
	for _, id := range channels {
		s.number(id)
	}
	return s
}

// number returns the number of a channel. It adds the channel if it is not there yet.
func (s *state) number(id uuid.UUID) uint32 {
	high, low := words(id)
	h := hash(high, low, 0)
	if found := s.channels.find(h, high, low, 0); found != nil {
		return uint32(timeOf(found.second.Load()))
	}
	number := uint32(len(s.users.seeds))
	s.users.seeds = append(s.users.seeds, h)
	s.channels.update(h, high, low, 0, true, editSecond(int64(number)))
	return number
}

// check returns the standing of a user at the time of a clock, and reports whether it is known.
func (s *state) check(channel, user uuid.UUID, c *clock) (Standing, bool) {
	standing := Standing{Verdict: Allowed, Source: FromMemory}
	if channel == user {
		standing.Roles = Owner
	}
	channelHigh, channelLow := words(channel)
	seed := hash(channelHigh, channelLow, 0)
	known := s.channels.find(seed, channelHigh, channelLow, 0)
	if known == nil {
		return standing, s.isAll
	}
	labels := known.second.Load()
	if labels&isDeleted != 0 {
		return Standing{Verdict: ChannelNotFound, Source: FromMemory}, true
	}
	if examined := timeOf(known.first.Load()); examined != 0 && c.now() < examined {
		standing.Verdict = PostFirst
	}
	high, low := words(user)
	entry := s.users.find(hash(high, low, seed), high, low, uint32(timeOf(labels)))
	if entry == nil {
		return standing, true
	}
	second := entry.second.Load()
	standing.Roles |= Roles(second >> rolesShift & uint64(Moderator|VIP|OG))
	if muted := timeOf(second); muted != 0 && c.now() < muted {
		standing.Verdict, standing.muted = Muted, muted
	}
	if banned := timeOf(entry.first.Load()); banned == forever || banned != 0 && c.now() < banned {
		standing.Verdict, standing.banned = Banned, banned
	}
	return standing, true
}

// until returns a time as an entry has it. A time so far away that it does not fit is
// forever.
func until(milliseconds int64) int64 { return min(max(milliseconds, 0), forever) }

// banUntil is until for the end of a ban, where 0 is forever.
func banUntil(milliseconds int64) int64 {
	if milliseconds == 0 {
		return forever
	}
	return until(milliseconds)
}

// update changes the entry of a user, given the number of the channel and its hash.
func (s *state) update(number uint32, user []byte, add bool, change edit) {
	high, low := words(uuid.UUID(user))
	s.users.update(hash(high, low, s.users.seeds[number]), high, low, number, add, change)
}

// load adds a part of a snapshot.
func (s *state) load(part *platformv1.StandingsSnapshot) error {
	for _, bans := range part.GetBans() {
		if n := len(bans.GetExpiresAt()); n != 0 && n != len(bans.GetUserIds())/idSize {
			return fmt.Errorf("%w: %d ends of bans", errMessage, n)
		}
		err := s.loadUsers(bans.GetChannelId(), bans.GetUserIds(), func(i int) edit {
			if len(bans.GetExpiresAt()) == 0 {
				return editFirst(forever)
			}
			return editFirst(banUntil(bans.GetExpiresAt()[i]))
		})
		if err != nil {
			return err
		}
	}
	for _, mutes := range part.GetMutes() {
		if n := len(mutes.GetExpiresAt()); n != len(mutes.GetUserIds())/idSize {
			return fmt.Errorf("%w: %d ends of mutes", errMessage, n)
		}
		err := s.loadUsers(mutes.GetChannelId(), mutes.GetUserIds(), func(i int) edit {
			return editSecond(until(mutes.GetExpiresAt()[i]))
		})
		if err != nil {
			return err
		}
	}
	for _, roles := range part.GetRoles() {
		if n := len(roles.GetRoles()); n != len(roles.GetUserIds())/idSize {
			return fmt.Errorf("%w: %d roles", errMessage, n)
		}
		err := s.loadUsers(roles.GetChannelId(), roles.GetUserIds(), func(i int) edit {
			return edit{setSecond: roleFlag(roles.GetRoles()[i])}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loadUsers changes the entries of users of a channel.
func (s *state) loadUsers(channel, users []byte, change func(i int) edit) error {
	if len(channel) != idSize || len(users)%idSize != 0 {
		return fmt.Errorf("%w: ids of %d and %d bytes", errMessage, len(channel), len(users))
	}
	number := s.number(uuid.UUID(channel))
	for i := range len(users) / idSize {
		s.update(number, users[i*idSize:(i+1)*idSize], true, change(i))
	}
	return nil
}

// roleFlag returns the flag of a role; 0 for one that entries do not have.
func roleFlag(r platformv1.Role) uint64 {
	return uint64(roleOf(r)&^Owner) << rolesShift
}
