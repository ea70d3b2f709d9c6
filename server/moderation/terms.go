package moderation

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// cause is why a ban or mute begins or ends, as its event states it.
type cause string

// The causes of bans, mutes and their ends.
const (
	byModerator cause = "moderator"
	byExpiry    cause = "expired"
	byBatch     cause = "batch"
	byRevert    cause = "revert"
)

// terms says why and until when a ban or mute lasts, and to which batch it belongs.
type terms struct {
	reason    string           // empty if there is none
	expiresAt *instant.Instant // nil if it lasts until it is removed
	batchID   *uid.ID          // nil if it belongs to no batch
}

func (t terms) reasonProto() *string {
	if t.reason == "" {
		return nil
	}
	return &t.reason
}

func (t terms) expiresAtProto() *timestamppb.Timestamp {
	if t.expiresAt == nil {
		return nil
	}
	return t.expiresAt.Proto()
}

func (t terms) batchIDProto() *string {
	if t.batchID == nil {
		return nil
	}
	return new(t.batchID.String())
}

// hasLapsed reports whether what has the terms is over.
func (t terms) hasLapsed(now instant.Instant) bool { return t.expiresAt != nil && now >= *t.expiresAt }

// wishedTerms are the terms that a request asks for.
type wishedTerms struct {
	reason   string
	duration time.Duration // 0 if none is given
	isGiven  bool          // whether the request has a reason or a duration
}

// parseTerms reads the fields reason and durationSeconds of a request.
func parseTerms(f *validate.Fields, reason *string, seconds *int64) wishedTerms {
	w := wishedTerms{isGiven: reason != nil || seconds != nil}
	if reason != nil {
		w.reason = f.GivenText("reason", *reason)
	}
	if seconds != nil {
		w.duration = time.Duration(f.Number("durationSeconds", *seconds)) * time.Second
	}
	return w
}

// from returns the terms of what begins now.
func (w wishedTerms) from(now instant.Instant) terms {
	t := terms{reason: w.reason}
	if w.duration > 0 {
		t.expiresAt = new(now.Add(w.duration))
	}
	return t
}

// answer returns the terms for the response to a request with w: nil if the request has
// none.
func (w wishedTerms) answer(t terms) *moderatov1.SanctionTerms {
	if !w.isGiven {
		return nil
	}
	return &moderatov1.SanctionTerms{Reason: t.reasonProto(), ExpiresAt: t.expiresAtProto()}
}
