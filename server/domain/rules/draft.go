package rules

import (
	"context"
	"fmt"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// draft is what a change would make of the rules of a channel, as they were read without a
// transaction.
type draft struct {
	*ruleSet

	now    instant.Instant
	after  []storedRule
	all    []*moderatov1.ChatRule // after, and those of the shield
	hasPut bool                   // the change puts rules, so the limits are checked
	limits error                  // checkLimits of all
}

// wanted returns what a change makes of the rules of a channel, which it has read with q.
type wanted func(ctx context.Context, q store.Queryer, rules *ruleSet, now instant.Instant) (changedRules, error)

func (s *Service) draft(ctx context.Context, channelID uid.ID, want wanted) (*draft, error) {
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	rules, err := readRuleSet(ctx, s.Store.Read, channelID, now)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	changed, err := want(ctx, s.Store.Read, rules, now)
	if err != nil {
		return nil, err
	}
	d := &draft{ruleSet: rules, now: now}
	var put []storedRule
	d.after, _, put = rules.after(changed, uid.ID{})
	d.all, d.hasPut = slices.Concat(protos(d.after), rules.ofShield), len(put)+len(rules.places) > 0
	return d, nil
}

// checkLimits checks the limits if the change puts rules.
func (d *draft) checkLimits() error {
	if d.hasPut {
		d.limits = checkLimits(d.all, d.places)
	}
	return d.limits
}

// checkAhead compiles the rules that a change would make, because that takes too long for a
// transaction. It returns nil if it cannot; the transaction then finds what is wrong.
func (s *Service) checkAhead(ctx context.Context, channelID uid.ID, want wanted) (*draft, error) {
	if authz.AuthorizeModerator(ctx, s.Store, channelID) != nil {
		return nil, nil //nolint:nilnil // the transaction refuses the caller
	}
	d, err := s.draft(ctx, channelID, want)
	if err != nil || !d.hasPut {
		return nil, nil //nolint:nilnil // the transaction finds what is wrong
	}
	release, err := s.Turns.Turn(ctx, channelID)
	if err != nil {
		return nil, fmt.Errorf("wait to compile rules: %w", err)
	}
	defer release()
	_ = d.checkLimits()
	return d, nil
}

// check is checkLimits in the transaction of a change of rules that have a version. Rules are compiled
// again only if the draft is of another version.
func (d *draft) check(version chat.RulesVersion, all []*moderatov1.ChatRule, in places) error {
	if d != nil && version == d.version() {
		return d.limits
	}
	return checkLimits(all, in)
}
