// Package hearing decides who hears which types of events. The contract declares the
// audience of each type. Everything that delivers events, whether over a stream or to a
// webhook, asks this package.
//
// A caller hears a type if its token permits it, which Ask checks, and if its standing in
// the channel permits it. Ask returns a Wish, and Wish.Types returns the types that the
// caller hears with a standing. StandingIn looks a standing up.
package hearing

import (
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/eventtype"
)

// Short names of the audiences.
const (
	public     = optionsv1.Audience_AUDIENCE_PUBLIC
	channel    = optionsv1.Audience_AUDIENCE_CHANNEL
	moderators = optionsv1.Audience_AUDIENCE_MODERATORS
)

// Standing says what a caller is to a channel.
type Standing int

// The standings.
const (
	// Nobody is a caller that acts for a user who does not exist. It hears nothing.
	Nobody Standing = iota
	// Outsider is any other caller.
	Outsider
	// Insider is the channel's owner or one of its moderators, an app to which the owner
	// granted users.read, or a backend that acts for no user.
	Insider
)

// Wish is what a caller asks to hear, and what its token permits.
type Wish struct {
	// Caller is the caller.
	Caller *authn.Caller
	// ChannelID is the channel; zero is every channel that the caller may hear.
	ChannelID uid.ID

	named           []eventtype.Type // the types that the caller named
	outside, inside []eventtype.Type // what an Outsider and an Insider hears
}

// Ask returns the Wish of a caller for the events of a channel, zero for every channel. If
// the caller names no types, it hears all that it may hear. The error says which kind of
// token or which scope is missing, or that an app must name a channel.
func Ask(caller *authn.Caller, channelID uid.ID, named []eventtype.Type) (*Wish, error) {
	w := &Wish{Caller: caller, ChannelID: channelID, named: named}
	for _, check := range []func(*authn.Caller, optionsv1.Audience) error{checkKind, checkScope} {
		for _, kind := range named {
			if err := check(caller, kind.Audience()); err != nil {
				return nil, err
			}
		}
	}
	if len(named) == 0 {
		if err := checkScope(caller, public); err != nil && checkScope(caller, moderators) != nil {
			return nil, err
		}
		named = eventtype.TypesNamed(append(eventtype.Types(), eventtype.LiveTypes()...))
	}
	for _, kind := range named {
		if checkKind(caller, kind.Audience()) != nil || checkScope(caller, kind.Audience()) != nil {
			continue
		}
		w.inside = append(w.inside, kind)
		if kind.Audience() == public || isBackend(caller) {
			w.outside = append(w.outside, kind)
		}
	}
	if len(w.inside) == 0 { // an app with channel.moderate alone
		return nil, checkScope(caller, public)
	}
	if caller.Kind == authn.App && channelID.IsZero() {
		return nil, apierr.Invalid(apierr.Violation{Field: "channelId", Description: "is required with an app token"})
	}
	return w, nil
}

// Types returns the types that the caller hears in a channel in which it has a standing.
// The error says which relation is missing for a type that the caller named. If the caller
// named none, there is an error only if it hears no type at all.
func (w *Wish) Types(s Standing) ([]eventtype.Type, error) {
	switch {
	case s == Insider:
		return w.inside, nil
	case s == Outsider && len(w.outside) > 0 && (len(w.named) == 0 || !w.DependsOnStanding()):
		return w.outside, nil
	}
	return nil, MissingRelation(w.Caller.Kind == authn.App)
}

// Widest returns the types that the caller hears as an Insider.
func (w *Wish) Widest() []eventtype.Type { return w.inside }

// DependsOnStanding reports whether an Insider hears more than an Outsider.
func (w *Wish) DependsOnStanding() bool { return len(w.inside) > len(w.outside) }

// Check returns an error if a caller may not hear all types of an audience in a channel in
// which it has a standing. It is for what was created for such types, whoever created it.
func Check(caller *authn.Caller, a optionsv1.Audience, s Standing) error {
	if err := checkKind(caller, a); err != nil {
		return err
	}
	if err := checkScope(caller, a); err != nil {
		return err
	}
	if s == Insider || (s == Outsider && a == public) {
		return nil
	}
	return MissingRelation(caller.Kind == authn.App)
}

// MissingRelation returns the error for an app, or another caller, that is not an Insider.
func MissingRelation(isApp bool) error {
	if isApp {
		return missing(moderatov1.Reason_REASON_GRANT_MISSING, authn.UsersRead)
	}
	return apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)
}

// isBackend reports whether a caller is a backend that acts for no user. It hears
// everything.
func isBackend(c *authn.Caller) bool { return c.Kind == authn.Service && !c.ActsAsUser() }

// checkKind returns an error if tokens of the caller's kind do not hear an audience's
// types.
func checkKind(c *authn.Caller, a optionsv1.Audience) error {
	if c.Kind != authn.App || a == public || a == channel {
		return nil
	}
	return &apierr.Error{
		Reason:   moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED,
		Metadata: map[string]string{apierr.AcceptedTokens: apierr.Tokens([]string{string(authn.User), string(authn.Service)})},
	}
}

// checkScope returns an error if the caller's token lacks the scope for an audience's
// types.
func checkScope(c *authn.Caller, a optionsv1.Audience) error {
	scope := authn.ChannelModerate // also for a type without an audience
	if a == public || a == channel {
		scope = authn.UsersRead
	}
	if c.HasScope(scope) {
		return nil
	}
	return missing(moderatov1.Reason_REASON_SCOPE_MISSING, scope)
}

func missing(reason moderatov1.Reason, scope string) error {
	return &apierr.Error{Reason: reason, Metadata: map[string]string{apierr.RequiredScope: scope}}
}

// Narrowest returns the narrowest of the audiences of types. Who hears its types hears the
// others as well, with the scopes.
func Narrowest(types []eventtype.Type) optionsv1.Audience {
	narrowest := public
	for _, kind := range types {
		switch kind.Audience() {
		case public:
		case channel:
			narrowest = max(narrowest, channel)
		default:
			narrowest = moderators
		}
	}
	return narrowest
}

// IsEverything reports whether types are all types.
func IsEverything(types []eventtype.Type) bool { return len(types) == len(eventtype.Types()) }
