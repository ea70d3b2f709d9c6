package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/store"
)

// cause is why settings or the shield change, as their event states it.
type cause string

// The causes of changes.
const (
	byModerator cause = "moderator"
	byExpiry    cause = "expired"
	byShield    cause = "shield"
	byItself    cause = "automatic"
)

// values are values of settings in JSON, by the names of the settings.
type values map[string]json.RawMessage

func (v values) add(name string, value any) {
	v[name], _ = json.Marshal(value) // a number, a boolean or text
}

// settings are the settings of a channel.
type settings struct {
	chat.StoredSettings

	// version counts the changes, and the values that have ended.
	version int64
	// rulesVersion counts the changes of the rules.
	rulesVersion int64
}

// readSettings reads the settings of a channel as they are stored. Values that have ended may
// still be among them.
func readSettings(ctx context.Context, q store.Queryer, channelID uid.ID) (*settings, error) {
	s, text := &settings{}, ""
	err := store.QueryEach(ctx, q, "SELECT version, rules_version, settings FROM chat_settings WHERE channel_id = ?", []any{channelID},
		func(scan func(...any) error) error { return scan(&s.version, &s.rulesVersion, &text) })
	if err == nil {
		s.StoredSettings, err = chat.ParseSettings(text)
	}
	return s, err
}

// endFirst removes the values that end first if they have ended, and reports whether they have
// and when. What was set by one change ends as one change.
func (s *settings) endFirst(now instant.Instant) (at instant.Instant, isEnded bool) {
	if len(s.Timed) == 0 || now < s.Timed[0].Until {
		return 0, false
	}
	at = s.Timed[0].Until
	s.Timed = s.Timed[1:]
	s.version++
	return at, true
}

// set sets values, for a time unless duration is 0, and reports whether that changes anything.
// A value that was set for a time before is replaced.
func (s *settings) set(given values, duration time.Duration, now instant.Instant) (isChanged bool, err error) {
	permanent, err := decode(s.Values)
	if err != nil {
		return false, err
	}
	isChanged = len(given) > 0 && duration > 0
	var timed []chat.TimedSettings
	for _, t := range s.Timed {
		before, err := decode(t.Values)
		if err != nil {
			return false, err
		}
		kept := maps.Clone(before)
		maps.DeleteFunc(kept, func(name string, _ json.RawMessage) bool { return given[name] != nil })
		isChanged = isChanged || len(kept) < len(before)
		if len(kept) > 0 {
			timed = append(timed, chat.TimedSettings{Until: t.Until, Values: encode(kept)})
		}
	}
	if duration > 0 {
		timed = append(timed, chat.TimedSettings{Until: now.Add(duration), Values: encode(given)})
		slices.SortStableFunc(timed, func(a, b chat.TimedSettings) int { return int(a.Until - b.Until) })
	} else {
		after := maps.Clone(permanent)
		maps.Copy(after, given)
		isSame, err := s.isSame(after)
		if err != nil {
			return false, err
		}
		isChanged = isChanged || !isSame
		s.Values = encode(after)
	}
	s.Timed = timed
	if isChanged {
		s.version++
	}
	return isChanged, nil
}

// isSame reports whether other values mean the same as those that are not set for a time.
func (s *settings) isSame(other values) (bool, error) {
	before, after := chat.StoredSettings{Values: s.Values}, chat.StoredSettings{Values: encode(other)}
	a, err := before.At(0)
	if err != nil {
		return false, err
	}
	b, err := after.At(0)
	return bytes.Equal(encode(a), encode(b)), err
}

// hasChecks reports whether a rule or a setting may restrict posts, now or after others have ended.
func (s *settings) hasChecks() (bool, error) {
	if s.Rules != nil {
		return true, nil
	}
	all := append([]chat.TimedSettings{{Values: s.Values}}, s.Timed...)
	if s.Shield != nil {
		all = append(all, *s.Shield)
	}
	for _, v := range all {
		alone := chat.StoredSettings{Values: v.Values}
		at, err := alone.At(0)
		if err != nil || hasModes(&at) {
			return err == nil, err
		}
	}
	return false, nil
}

// endsAt returns when the first values end, or the shield; nil if nothing ends.
func (s *settings) endsAt() *instant.Instant {
	if ends := s.Ends(0); len(ends) > 0 {
		return &ends[0]
	}
	return nil
}

// timedProto returns when each value ends that is set for a time.
func (s *settings) timedProto() (all []*moderatov1.TimedSetting) {
	for _, t := range s.Timed {
		set, _ := decode(t.Values)
		for _, name := range slices.Sorted(maps.Keys(set)) {
			all = append(all, &moderatov1.TimedSetting{Setting: name, EndsAt: t.Until.Proto()})
		}
	}
	return all
}

// write stores the settings of the channel of a change, with what identifies its rules.
func (s *settings) write(ctx context.Context, c *change.Change) error {
	text := string(encode(s.StoredSettings))
	has, err := s.hasChecks()
	if err != nil {
		return err
	}
	_, err = c.Tx.ExecContext(ctx, "INSERT INTO chat_settings (channel_id, version, settings, rules_version, has_checks, ends_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?)"+
		c.Store.Upsert("channel_id")+"version = ?, settings = ?, rules_version = ?, has_checks = ?, ends_at = ?, changed_at = ?",
		c.ChannelID, s.version, text, s.rulesVersion, has, s.endsAt(), c.Now, s.version, text, s.rulesVersion, has, s.endsAt(), c.Now)
	if err != nil {
		return fmt.Errorf("save the settings of a chat: %w", err)
	}
	return nil
}

// save stores the settings of the channel of a change, and emits the event of what is in force
// from an instant on.
func save(ctx context.Context, c *change.Change, s *settings, why cause, from instant.Instant) error {
	if err := s.write(ctx, c); err != nil {
		return err
	}
	e := &moderatov1.ChatSettingsEvent{}
	if err := fill(e, s, from); err != nil {
		return err
	}
	e.ChannelId, e.Version, e.Cause, e.ClientId, e.ModeratorId = c.ChannelID.String(), s.version, string(why), c.ClientID, c.ModeratorID()
	c.Emit("channel.chat.settings", uid.ID{}, e)
	return nil
}

// endPassed ends the values of the channel of a change whose time has passed, and the shield, and
// returns the settings after that. Each end has an event of its own, without an actor.
func endPassed(ctx context.Context, c *change.Change) (*settings, error) {
	s, err := readSettings(ctx, c.Tx, c.ChannelID)
	if err != nil {
		return nil, fmt.Errorf("read the settings of a chat: %w", err)
	}
	for first := s.endsAt(); err == nil && first != nil && *first <= c.Now; first = s.endsAt() {
		c.ByNobody(func() {
			if s.Shield != nil && s.Shield.Until == *first {
				err = endShield(ctx, c, s)
				return
			}
			at, _ := s.endFirst(c.Now)
			err = save(ctx, c, s, byExpiry, at)
		})
	}
	return s, err
}

// decode reads values of settings.
func decode(text json.RawMessage) (values, error) {
	v := values{}
	if text == nil {
		return v, nil
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("read the settings of a chat: %w", err)
	}
	return v, nil
}

// encode returns the JSON of settings or values, which always have one.
func encode(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}
