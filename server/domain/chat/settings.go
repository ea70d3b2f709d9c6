package chat

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moderato-live/moderato/internal/instant"
)

// Settings are the settings of a channel's chat at one instant.
type Settings struct {
	SlowSeconds          int64    `json:"slowSeconds"`
	FollowersOnlySeconds int64    `json:"followersOnlySeconds"` // -1: off
	SubscribersOnly      bool     `json:"subscribersOnly"`
	EmoteOnly            bool     `json:"emoteOnly"`
	MinAccountAgeSeconds int64    `json:"minAccountAgeSeconds"`
	UniqueSeconds        int64    `json:"uniqueSeconds"`
	FirstMessage         string   `json:"firstMessage"`
	ExemptRoles          []string `json:"exemptRoles"`
	HoldSeconds          int64    `json:"holdSeconds"`
	OnHoldExpiry         string   `json:"onHoldExpiry"`
	// ShieldActive reports whether the shield is up. It is never set.
	ShieldActive bool `json:"shieldActive"`
}

// StoredSettings are the settings of a channel's chat as they are stored. The zero value is that
// of a channel whose settings never changed.
type StoredSettings struct {
	// Values are the values that were set: an object of Settings.
	Values json.RawMessage `json:"values,omitempty"`
	// Timed are the values that are set for a time instead, the first to end first. No setting
	// is in two of them.
	Timed []TimedSettings `json:"timed,omitempty"`
	// Shield holds the values of the shield that was raised; nil if none was. Of these and the
	// settings, the stricter ones are in force.
	Shield *TimedSettings `json:"shield,omitempty"`
	// Rules identify the rules of the channel; nil if it has no enabled rule, and no rule of a shield.
	Rules *RulesVersion `json:"rules,omitempty"`
}

// RulesVersion identifies the compiled rules of a channel. It is in the row of the settings, so a
// post sees at once, on every server, that rules have changed.
type RulesVersion struct {
	// Version counts the changes of the rules.
	Version int64 `json:"version"`
	// Preset counts the changes of the rules of the shield's preset.
	Preset int64 `json:"preset"`
}

// TimedSettings are values that are in force until an instant.
type TimedSettings struct {
	Until  instant.Instant `json:"until"`
	Values json.RawMessage `json:"values"`
}

// ParseSettings reads the settings of a channel from the text that is stored; empty if none is.
func ParseSettings(text string) (s StoredSettings, err error) {
	if text == "" {
		return s, nil
	}
	if err = json.Unmarshal([]byte(text), &s); err != nil {
		err = fmt.Errorf("read the settings of a chat: %w", err)
	}
	return s, err
}

// At returns the settings that are in force at an instant.
func (s *StoredSettings) At(now instant.Instant) (at Settings, err error) {
	at = Settings{
		FollowersOnlySeconds: -1, FirstMessage: "allow", ExemptRoles: []string{"vip", "og"},
		HoldSeconds: 600, OnHoldExpiry: "deny",
	}
	if s.Values != nil {
		err = json.Unmarshal(s.Values, &at)
	}
	for _, t := range s.Timed {
		if err == nil && now < t.Until {
			err = json.Unmarshal(t.Values, &at)
		}
	}
	if err == nil && s.Shield != nil && now < s.Shield.Until {
		err = at.raise(s.Shield.Values)
	}
	if err != nil {
		err = fmt.Errorf("read the settings of a chat: %w", err)
	}
	return at, err
}

// Ends returns when values end after an instant, in order.
func (s *StoredSettings) Ends(after instant.Instant) (ends []instant.Instant) {
	for _, t := range s.Timed {
		ends = append(ends, t.Until)
	}
	if s.Shield != nil {
		ends = append(ends, s.Shield.Until)
	}
	slices.Sort(ends)
	return slices.DeleteFunc(slices.Compact(ends), func(end instant.Instant) bool { return end <= after })
}

// firstMessages are the values of FirstMessage, the weakest first.
var firstMessages = []string{"allow", "hold", "block"}

// raise replaces each setting by the value of a shield if that is stricter.
func (s *Settings) raise(values json.RawMessage) error {
	// What the shield does not set has the weakest value.
	shield := Settings{FollowersOnlySeconds: -1, FirstMessage: firstMessages[0], ExemptRoles: slices.Clone(s.ExemptRoles)}
	err := json.Unmarshal(values, &shield)
	s.ShieldActive = true
	s.SlowSeconds = max(s.SlowSeconds, shield.SlowSeconds)
	s.FollowersOnlySeconds = max(s.FollowersOnlySeconds, shield.FollowersOnlySeconds)
	s.SubscribersOnly = s.SubscribersOnly || shield.SubscribersOnly
	s.EmoteOnly = s.EmoteOnly || shield.EmoteOnly
	s.MinAccountAgeSeconds = max(s.MinAccountAgeSeconds, shield.MinAccountAgeSeconds)
	s.UniqueSeconds = max(s.UniqueSeconds, shield.UniqueSeconds)
	s.FirstMessage = firstMessages[max(slices.Index(firstMessages, s.FirstMessage), slices.Index(firstMessages, shield.FirstMessage))]
	s.ExemptRoles = slices.DeleteFunc(s.ExemptRoles, func(role string) bool { return !slices.Contains(shield.ExemptRoles, role) })
	return err
}
