package moderation

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// cause is why a ban or mute begins or ends, as its event states it.
type cause string

// The causes of bans, mutes and their ends.
const (
	byModerator cause = "moderator"
	byExpiry    cause = "expired"
	byBatch     cause = "batch"
	byRevert    cause = "revert"
	byRule      cause = "rule"
)

// terms says why and until when a ban or mute lasts, and to which batch it belongs.
type terms struct {
	reason    string           // empty if there is none
	expiresAt *instant.Instant // nil if it lasts until it is removed
	batchID   *uid.ID          // nil if it belongs to no batch
	ruleID    *uid.ID          // nil if no rule made it
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

// cause returns the cause of a ban or mute with the terms.
func (t terms) cause() cause {
	switch {
	case t.batchID != nil:
		return byBatch
	case t.ruleID != nil:
		return byRule
	}
	return byModerator
}

// hasLapsed reports whether what has the terms is over.
func (t terms) hasLapsed(now instant.Instant) bool { return t.expiresAt != nil && now >= *t.expiresAt }

// answer returns the terms as a response has them.
func (t terms) answer() *moderatov1.SanctionTerms {
	return &moderatov1.SanctionTerms{Reason: t.reasonProto(), ExpiresAt: t.expiresAtProto()}
}

// outlasts reports whether t ends later than the terms of another ban.
func (t terms) outlasts(other terms) bool {
	return other.expiresAt != nil && (t.expiresAt == nil || *t.expiresAt > *other.expiresAt)
}

// wishedTerms are the terms that a request asks for.
type wishedTerms struct {
	reason   string
	duration time.Duration // 0 if none is given
	replaces bool          // whether the request replaces what is in force
	isGiven  bool          // whether the request has one of these fields
}

// parseTerms reads the fields reason, durationSeconds and replace of a request.
func parseTerms(f *validate.Fields, reason *string, seconds *int64, replace *bool) wishedTerms {
	w := wishedTerms{isGiven: reason != nil || seconds != nil || replace != nil, replaces: replace != nil && *replace}
	if text := parseReason(f, reason); text != nil {
		w.reason = *text
	}
	if seconds != nil {
		w.duration = time.Duration(f.Number("durationSeconds", *seconds)) * time.Second
	}
	return w
}

// parseReason reads the field reason of a request; nil if it is not given.
func parseReason(f *validate.Fields, reason *string) *string {
	if reason == nil {
		return nil
	}
	return new(f.GivenText("reason", *reason))
}

// from returns the terms of what begins now.
func (w wishedTerms) from(now instant.Instant) terms {
	t := terms{reason: w.reason}
	if w.duration > 0 {
		t.expiresAt = new(now.Add(w.duration))
	}
	return t
}
