package rules

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// UpdateShieldPreset replaces what the shield of a channel does.
func (s *Service) UpdateShieldPreset(ctx context.Context, req *moderatov1.UpdateShieldPresetRequest) (*moderatov1.UpdateShieldPresetResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	preset := &moderatov1.ShieldPreset{Settings: req.GetSettings(), Rules: req.GetRules(), AutoStart: parseAutoStart(f, req.GetAutoStart())}
	if preset.GetSettings() == nil {
		f.Add("settings", "is required; {} for none")
		preset.Settings = &moderatov1.ShieldSettings{}
	}
	settings := validate.Of(preset.GetSettings())
	settings.In("settings")
	presetValues(settings, preset.GetSettings())
	f.Include(settings)
	parseRules(f, "rules", preset.GetRules())
	if err := f.Err(); err != nil {
		return nil, err
	}
	ahead, err := s.checkAhead(ctx, channelID, func(_ context.Context, _ store.Queryer, rules *ruleSet, now instant.Instant) (_ changedRules, err error) {
		after := proto.CloneOf(preset)
		rules.ofShield, rules.places, err = identify(after.GetRules(), rules.ofShield, now)
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	var result *moderatov1.UpdateShieldPresetResponse
	idempotency.Result(ctx, &result)
	err = change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		after := proto.CloneOf(preset)
		result = &moderatov1.UpdateShieldPresetResponse{Preset: after}
		return putPreset(ctx, c, after, ahead)
	})
	return result, err
}

// parseAutoStart returns when a shield is raised by itself; nil if it never is.
func parseAutoStart(f *validate.Fields, auto *moderatov1.ShieldAutoStart) *moderatov1.ShieldAutoStart {
	if auto == nil {
		return nil
	}
	if auto.FollowsPerMinute == nil && auto.FirstMessagesPerMinute == nil && auto.HeldPerMinute == nil {
		f.Add("autoStart", "must have at least one number")
	}
	numbers := validate.Of(auto)
	numbers.In("autoStart")
	parseNumbers(numbers, auto)
	f.Include(numbers)
	return auto
}

// presetValues returns the settings of a preset.
func presetValues(f *validate.Fields, of *moderatov1.ShieldSettings) values {
	return parseGiven(f, &moderatov1.UpdateChatSettingsRequest{
		SlowSeconds: of.SlowSeconds, FollowersOnlySeconds: of.FollowersOnlySeconds, SubscribersOnly: of.SubscribersOnly, EmoteOnly: of.EmoteOnly,
		MinAccountAgeSeconds: of.MinAccountAgeSeconds, UniqueSeconds: of.UniqueSeconds, FirstMessage: of.FirstMessage, ExemptRoles: of.GetExemptRoles(),
	})
}

// putPreset replaces the preset of the channel of a change. It gives rules ids.
func putPreset(ctx context.Context, c *change.Change, after *moderatov1.ShieldPreset, ahead *draft) error {
	present, err := endPassed(ctx, c)
	if err != nil {
		return err
	}
	row, err := readShield(ctx, c.Tx.Shield, c.ChannelID)
	if err != nil {
		return err
	}
	before, err := presetOf(row, c.Now)
	if err != nil {
		return err
	}
	var in places
	if after.Rules, in, err = identify(after.GetRules(), before.GetRules(), c.Now); err != nil {
		return err
	}
	changed := changedFields(before, after)
	if len(changed) == 0 {
		return nil
	}
	setPreset(row, after)
	if slices.Contains(changed, "rules") {
		rules := &ruleSet{settings: present, ofShield: after.GetRules(), presetVersion: row.PresetVersion}
		if rules.rules, err = readRules(ctx, c.Tx, c.ChannelID); err != nil {
			return err
		}
		if err := ahead.check(rules.version(), slices.Concat(protos(rules.rules), rules.ofShield), in); err != nil {
			return err
		}
		row.PresetVersion++
		rules.presetVersion = row.PresetVersion
		rules.identify()
	}
	if err := saveShield(ctx, c.Tx, row); err != nil {
		return err
	}
	c.Emit("channel.shield.preset", uid.ID{}, &moderatov1.ShieldPresetEvent{
		ChannelId: c.ChannelID.String(), ModeratorId: c.ModeratorID(), ClientId: c.ClientID, Changed: changed,
	})
	return present.follow(ctx, c, row, c.Now)
}

// identify returns the rules of a preset with ids, and their places in the request. A rule with an id
// replaces that one of the preset before. If the preset has none and the rule has expired, it is left
// out: the client read it before that.
func identify(given, before []*moderatov1.ChatRule, now instant.Instant) (after []*moderatov1.ChatRule, in places, err error) {
	f, in := &validate.Fields{}, places{}
	for i, r := range given {
		isNew := r.GetRuleId() == ""
		if isNew {
			r.RuleId = uid.New().String()
		}
		r.RuleId = uid.MustParse(r.GetRuleId()).String() // in lower case
		isKnown := slices.ContainsFunc(before, func(b *moderatov1.ChatRule) bool { return b.GetRuleId() == r.GetRuleId() })
		switch {
		case isExpired(r, now) && !isNew && !isKnown:
			continue
		case isExpired(r, now):
			f.Add(place("rules", i, "expiresAt"), "must be in the future")
		case !isNew && !isKnown:
			f.Add(place("rules", i, "ruleId"), "must be a rule of the preset")
		case in[r.GetRuleId()] != "":
			f.Add(place("rules", i, "ruleId"), "is given twice")
		}
		in[r.GetRuleId()] = fieldOf("rules", i)
		after = append(after, r)
	}
	return after, in, f.Err()
}

// changedFields returns the names of the fields that differ between two presets.
func changedFields(before, after *moderatov1.ShieldPreset) (names []string) {
	fields := after.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		only := func(p *moderatov1.ShieldPreset) []byte {
			one := &moderatov1.ShieldPreset{}
			if p.ProtoReflect().Has(fields.Get(i)) {
				one.ProtoReflect().Set(fields.Get(i), p.ProtoReflect().Get(fields.Get(i)))
			}
			return jsonapi.Marshal(one)
		}
		if !bytes.Equal(only(before), only(after)) {
			names = append(names, fields.Get(i).JSONName())
		}
	}
	return names
}

// presetOf returns the preset of a shield as clients read it at an instant.
func presetOf(row *ent.Shield, now instant.Instant) (*moderatov1.ShieldPreset, error) {
	preset := &moderatov1.ShieldPreset{}
	if err := jsonapi.Unmarshal([]byte(row.Preset), preset, jsonapi.Options{}); err != nil {
		return nil, fmt.Errorf("read the preset of a shield: %w", err)
	}
	if preset.GetSettings() == nil {
		preset.Settings = &moderatov1.ShieldSettings{}
	}
	preset.Rules = unexpired(preset.GetRules(), now)
	if row.StartsItself {
		number := func(n *int64) *int32 {
			if n == nil {
				return nil
			}
			return new(int32(*n)) //nolint:gosec // it has bounds
		}
		preset.AutoStart = &moderatov1.ShieldAutoStart{
			FollowsPerMinute: number(row.FollowsPerMinute), FirstMessagesPerMinute: number(row.FirstMessagesPerMinute), HeldPerMinute: number(row.HeldPerMinute),
		}
	}
	return preset, nil
}

// setPreset replaces the preset of a shield.
func setPreset(row *ent.Shield, preset *moderatov1.ShieldPreset) {
	row.Preset = string(jsonapi.Marshal(&moderatov1.ShieldPreset{Settings: preset.GetSettings(), Rules: preset.GetRules()}))
	number := func(n *int32) *int64 {
		if n == nil {
			return nil
		}
		return new(int64(*n))
	}
	auto := preset.GetAutoStart()
	row.StartsItself = auto != nil
	if auto == nil {
		auto = &moderatov1.ShieldAutoStart{}
	}
	row.FollowsPerMinute, row.FirstMessagesPerMinute, row.HeldPerMinute = number(auto.FollowsPerMinute), number(auto.FirstMessagesPerMinute), number(auto.HeldPerMinute)
}

// follow stores settings with the values of a shield while that is up. If other values are in
// force from an instant on, it emits them.
func (s *settings) follow(ctx context.Context, c *change.Change, row *ent.Shield, from instant.Instant) error {
	before := s.StoredSettings
	if before.Shield != nil {
		// A shield that ends at the instant was in force until then.
		before.Shield = &chat.TimedSettings{Until: from + 1, Values: before.Shield.Values}
	}
	s.Shield = nil
	if row.EndsAt != nil {
		preset, err := presetOf(row, c.Now)
		if err != nil {
			return err
		}
		s.Shield = &chat.TimedSettings{Until: *row.EndsAt, Values: encode(presetValues(validate.Of(preset.GetSettings()), preset.GetSettings()))}
	}
	was, err := before.At(from)
	if err != nil {
		return err
	}
	is, err := s.At(from)
	if err != nil {
		return err
	}
	was.ShieldActive = is.ShieldActive // its own events report it
	if bytes.Equal(encode(was), encode(is)) {
		return s.write(ctx, c)
	}
	return save(ctx, c, s, byShield, from)
}

// endShield takes down the shield of the channel of a change, whose time has passed.
func endShield(ctx context.Context, c *change.Change, s *settings) error {
	row, err := readShield(ctx, c.Tx.Shield, c.ChannelID)
	if err != nil {
		return err
	}
	return lower(ctx, c, s, row, byExpiry, s.Shield.Until)
}
