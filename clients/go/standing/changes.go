package standing

import (
	"fmt"

	"github.com/google/uuid"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// apply applies changes in their order. Deletions that follow each other share one pass
// over all entries.
func (s *state) apply(changes []*platformv1.StandingChange) error {
	deleted := deletions{users: map[uuid.UUID]struct{}{}, channels: map[uint32]struct{}{}}
	for _, change := range changes {
		switch change.GetKind() {
		case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_USER_ERASED:
			if len(change.GetUserId()) != idSize {
				return fmt.Errorf("%w: an id of %d bytes", errMessage, len(change.GetUserId()))
			}
			deleted.users[uuid.UUID(change.GetUserId())] = struct{}{}
			continue
		case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_DELETED:
			if len(change.GetChannelId()) != idSize {
				return fmt.Errorf("%w: an id of %d bytes", errMessage, len(change.GetChannelId()))
			}
			s.deleteChannel(uuid.UUID(change.GetChannelId()), &deleted)
			continue
		default:
		}
		s.forget(&deleted)
		if err := s.applyOne(change); err != nil {
			return err
		}
	}
	s.forget(&deleted)
	return nil
}

// deletions are users, and numbers of channels, whose entries remain to be removed.
type deletions struct {
	users    map[uuid.UUID]struct{}
	channels map[uint32]struct{}
}

// deleteChannel notes that a channel does not exist. If the state has all channels, nobody
// would say that the channel exists again, so only its entries are removed.
func (s *state) deleteChannel(id uuid.UUID, deleted *deletions) {
	high, low := words(id)
	h := hash(high, low, 0)
	known := s.channels.find(h, high, low, 0)
	if known == nil {
		return
	}
	deleted.channels[uint32(timeOf(known.second.Load()))] = struct{}{}
	gone := edit{clearFirst: timeMask}
	if !s.isAll {
		gone.setSecond = isDeleted
	}
	s.channels.update(h, high, low, 0, false, gone)
}

// forget removes the entries of what was deleted. It reads all entries, because deletions
// are rare.
func (s *state) forget(deleted *deletions) {
	if len(deleted.users)+len(deleted.channels) == 0 {
		return
	}
	s.users.removeAll(func(e *slot) bool {
		_, user := deleted.users[idOf(e.high, e.low)]
		_, channel := deleted.channels[e.scope()]
		return user || channel
	})
	clear(deleted.users)
	clear(deleted.channels)
}

func (s *state) applyOne(change *platformv1.StandingChange) error {
	switch change.GetKind() {
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_BAN:
		return s.changeUser(change, true, editFirst(banUntil(change.GetExpiresAt())))
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNBAN:
		return s.changeUser(change, false, editFirst(0))
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MUTE:
		return s.changeUser(change, true, editSecond(until(change.GetExpiresAt())))
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_UNMUTE:
		return s.changeUser(change, false, editSecond(0))
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_ADD:
		return s.changeUser(change, true, edit{setSecond: roleFlag(change.GetRole())})
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_ROLE_REMOVE:
		return s.changeUser(change, false, edit{clearSecond: roleFlag(change.GetRole())})
	case platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_CREATED,
		platformv1.StandingChangeKind_STANDING_CHANGE_KIND_MESSAGE_CHECK:
		return s.changeChannel(change)
	default: // a kind of a later version
		return nil
	}
}

// changeUser changes the entry of a user. If there is none, changeUser adds one, or does
// nothing if add is false.
func (s *state) changeUser(change *platformv1.StandingChange, add bool, edit edit) error {
	if len(change.GetChannelId()) != idSize || len(change.GetUserId()) != idSize {
		return fmt.Errorf("%w: ids of %d and %d bytes", errMessage, len(change.GetChannelId()), len(change.GetUserId()))
	}
	s.update(s.number(uuid.UUID(change.GetChannelId())), change.GetUserId(), add, edit)
	return nil
}

func (s *state) changeChannel(change *platformv1.StandingChange) error {
	if len(change.GetChannelId()) != idSize {
		return fmt.Errorf("%w: an id of %d bytes", errMessage, len(change.GetChannelId()))
	}
	id := uuid.UUID(change.GetChannelId())
	s.number(id)
	edit := editFirst(until(change.GetExpiresAt()))
	if change.GetKind() == platformv1.StandingChangeKind_STANDING_CHANGE_KIND_CHANNEL_CREATED {
		edit.setFirst, edit.clearSecond = 0, isDeleted
	}
	high, low := words(id)
	s.channels.update(hash(high, low, 0), high, low, 0, true, edit)
	return nil
}

// finish ends the loading of a snapshot.
func (s *state) finish() {
	s.users.trim()
	s.measure()
}

// sweep forgets bans and mutes of a shard that have ended, at most once in sweepInterval.
// Each call examines another shard.
func (s *state) sweep(now int64) {
	if now < s.sweepAt {
		return
	}
	s.sweepAt = now + sweepInterval.Milliseconds()
	s.users.expire(s.swept, now-expiryMargin.Milliseconds())
	s.swept++
	s.measure()
}

// measure updates what Stats reports.
func (s *state) measure() {
	s.entries.Store(int64(s.users.live()))
	s.mentioned.Store(int64(s.channels.live()))
	s.bytes.Store(s.users.bytes() + s.channels.bytes() + 8*int64(len(s.users.seeds)))
}
