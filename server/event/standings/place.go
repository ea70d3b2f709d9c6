package standings

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"

	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
)

// maxChecks bounds the channels with a check of messages that a cursor names, because the
// length of cursors is bounded.
const maxChecks = 16

// place is what a cursor of standings holds.
type place struct {
	// Position is the position up to which all events were sent.
	Position int64 `json:"p"`
	// Rewrites counts the deletions that were sent: see outbox.Positions.
	Rewrites int64 `json:"r"`
	// Imports counts the imports that the state of the chat server has: see outbox.Positions.
	Imports int64 `json:"i,omitempty"`
	// Channels is the digest of the channels of the stream.
	Channels string `json:"c"`
	// Missing is the digest of those channels that do not exist. It is empty for all
	// channels, and in a cursor of an earlier version.
	Missing string `json:"m,omitempty"`
	// Checks are the channels in which messages are examined because of an afterglow, one after
	// the other. If there are more than maxChecks, they are those whose checks end last: the
	// chat server lets the others end by themselves, even if they ended earlier. Of channels
	// with modes, a stream that resumes is told by their events.
	Checks []byte `json:"k,omitempty"`
}

// cursorList is the name to which cursors of standings are bound.
const cursorList = "standings"

// place returns the place of a stream, given its position.
func (s *stream) place(position int64) place {
	if s.placed == nil {
		s.placed = &place{
			Channels: s.digest,
			Missing:  s.digestMissing(slices.SortedFunc(maps.Keys(s.sentMissing), compareIDs)),
			Checks:   joined(s.latestChecks()),
		}
	}
	at := *s.placed
	at.Position, at.Rewrites, at.Imports = position, s.rewrites, s.imports
	return at
}

// digestMissing returns place.Missing for channels that do not exist, which are sorted.
func (s *stream) digestMissing(missing []uid.ID) string {
	if s.channels.isEverything() {
		return ""
	}
	return digestOf(missing)
}

// latestChecks returns at most maxChecks channels in which messages are examined.
func (s *stream) latestChecks() []uid.ID {
	glowing := maps.Clone(s.sentChecks)
	maps.DeleteFunc(glowing, func(_ uid.ID, until instant.Instant) bool { return until == forever })
	ids := slices.SortedFunc(maps.Keys(glowing), func(a, b uid.ID) int {
		return cmp.Or(cmp.Compare(s.sentChecks[b], s.sentChecks[a]), compareIDs(a, b))
	})
	return ids[:min(len(ids), maxChecks)]
}

// restoreChecks notes of which checks the chat server knows. It is told of those that have
// ended since, and once more of the others.
func (s *stream) restoreChecks(checks []byte) {
	for id := range slices.Chunk(checks, len(uid.ID{})) {
		s.setCheck(uid.ID(id), unknownEnd)
	}
}

// unknownEnd is the end of a check that a place has.
const unknownEnd instant.Instant = -1

// setCheck notes until when the chat server knows that messages are examined; 0 if they are
// not.
func (s *stream) setCheck(id uid.ID, until instant.Instant) {
	s.placed = nil
	if s.sentChecks[id] = until; until == 0 {
		delete(s.sentChecks, id)
	}
}

// setMissing notes that the chat server knows whether a channel exists.
func (s *stream) setMissing(id uid.ID, isMissing bool) {
	if s.channels.isEverything() {
		return
	}
	s.placed = nil
	if s.sentMissing[id] = isMissing; !isMissing {
		delete(s.sentMissing, id)
	}
}

// joined returns ids one after the other.
func joined(ids []uid.ID) []byte {
	b := make([]byte, 0, len(ids)*len(uid.ID{}))
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

// digestOf identifies a list of ids in a cursor.
func digestOf(ids []uid.ID) string {
	sum := sha256.Sum256(joined(ids))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}
