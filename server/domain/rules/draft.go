package rules

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// draft is what a change would make of the rules of a channel, as they were read without a
// transaction.
type draft struct {
	*ruleSet

	now    instant.Instant
	after  []storedRule
	all    []*moderatov1.ChatRule // after, and those of the shield
	limits error                  // checkLimits of all
}

// wanted returns what a change makes of the rules of a channel.
type wanted func(*ruleSet, instant.Instant) (changedRules, error)

func (s *Service) draft(ctx context.Context, channelID uid.ID, want wanted) (*draft, error) {
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	rules, err := readRuleSet(ctx, s.Store.Read, channelID, now)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	changed, err := want(rules, now)
	if err != nil {
		return nil, err
	}
	d := &draft{ruleSet: rules, now: now}
	var put []storedRule
	d.after, _, put = rules.after(changed, uid.ID{})
	if d.all = slices.Concat(protos(d.after), rules.ofShield); len(put)+len(rules.places) > 0 {
		d.limits = checkLimits(d.all, rules.places)
	}
	return d, nil
}

// checkAhead returns the draft of a change that the caller is about to make: compiling rules takes too
// long for a transaction. It returns nil if there is none. What is wrong with the change is wrong in
// the transaction as well.
func (s *Service) checkAhead(ctx context.Context, channelID uid.ID, want wanted) (*draft, error) {
	if authz.AuthorizeModerator(ctx, s.Store, channelID) != nil {
		return nil, nil //nolint:nilnil // the transaction refuses the caller
	}
	release, err := s.Turns.Turn(ctx, channelID)
	if err != nil {
		return nil, fmt.Errorf("wait to compile rules: %w", err)
	}
	defer release()
	d, _ := s.draft(ctx, channelID, want)
	return d, nil
}

// check is checkLimits in the transaction of a change. Rules are compiled again only if the draft is of
// others.
func (d *draft) check(all []*moderatov1.ChatRule, in places) error {
	matchesAlike := func(a, b *moderatov1.ChatRule) bool { return reflect.DeepEqual(matchRule(a), matchRule(b)) }
	if d != nil && slices.EqualFunc(d.all, all, matchesAlike) {
		return d.limits
	}
	return checkLimits(all, in)
}
