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
)

// draft is what a change would make of the rules of a channel, as they were read without a
// transaction.
type draft struct {
	// version is that of the rules that it changes. They may be of a later version.
	version        chat.RulesVersion
	now            instant.Instant
	present, after []storedRule
	limits         error // of checkLimits
}

// wanted returns what a change makes of the rules of a channel.
type wanted func(*ruleSet, instant.Instant) (changedRules, error)

func (s *Service) draft(ctx context.Context, channelID uid.ID, want wanted) (*draft, error) {
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	rules := &ruleSet{}
	if rules.settings, err = readSettings(ctx, s.Store.Read, channelID); err != nil { // the version first
		return nil, s.Store.Classify(err)
	}
	ofShield, presetVersion, err := presetRules(ctx, s.Store.Read, channelID)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if rules.rules, err = readRules(ctx, s.Store.Read, channelID); err != nil {
		return nil, s.Store.Classify(err)
	}
	changed, err := want(rules, now)
	if err != nil {
		return nil, err
	}
	d := &draft{version: chat.RulesVersion{Version: rules.rulesVersion, Preset: presetVersion}, now: now, present: rules.rules}
	var put []storedRule
	if d.after, _, put = rules.after(changed, uid.ID{}); len(put) > 0 {
		d.limits = checkLimits(slices.Concat(protos(d.after), ofShield))
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

// check is checkLimits in the transaction of a change of the rules of a version. They are compiled again
// only if the draft is of other rules.
func (d *draft) check(version chat.RulesVersion, after []storedRule, ofShield []*moderatov1.ChatRule) error {
	if d != nil && d.version == version {
		return d.limits
	}
	return checkLimits(slices.Concat(protos(after), ofShield))
}
