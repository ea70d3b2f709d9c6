package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/metadata"

	entchannel "github.com/moderato-live/moderato/ent/channel"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/importer"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
)

// Tokens are the access tokens for the commands of the tour.
type Tokens struct {
	Owner, Moderator, Viewer, App, Service string
	// Viewers is the token with which the viewers act.
	Viewers string
}

// Load stores the demo's data, applies its bans, rules and a mode through the services, and
// issues tokens. If the store has the demo already, Load resets the records that have no
// time, and issues new tokens. Clients reach the server at origin.
func Load(ctx context.Context, s *store.Store, origin string) (Tokens, error) {
	now, err := s.Clock.Now(ctx, s.Read)
	if err != nil {
		return Tokens{}, err
	}
	importer := importer.Importer{Store: s}
	cast := People()
	records := Records(now, origin)
	loaded, err := s.Read.Channel.Query().Where(entchannel.ID(cast.Owner.ID)).Exist(ctx)
	if err != nil {
		return Tokens{}, err
	}
	if loaded {
		records = slices.DeleteFunc(records, isOfItsTime)
	}
	if err := importer.ImportRecords(ctx, records); err != nil {
		return Tokens{}, err
	}
	var tokens Tokens
	scopes := authn.Scopes()
	for _, t := range []struct {
		to  *string
		new authn.NewToken
	}{
		{&tokens.Owner, authn.NewToken{Kind: authn.User, ClientID: cast.Client, UserID: cast.Owner.ID, Scopes: scopes}},
		{&tokens.Moderator, authn.NewToken{Kind: authn.User, ClientID: cast.Client, UserID: cast.Moderator.ID, Scopes: scopes}},
		{&tokens.Viewer, authn.NewToken{Kind: authn.User, ClientID: cast.Client, UserID: cast.Viewer.ID, Scopes: scopes}},
		{&tokens.App, authn.NewToken{Kind: authn.App, ClientID: cast.Client, Scopes: []string{authn.UsersRead}}},
		{&tokens.Service, authn.NewToken{Kind: authn.Service, ClientID: cast.ServiceClient}},
		{&tokens.Viewers, authn.NewToken{Kind: authn.Service, ClientID: ViewersClient}},
	} {
		t.new.Lifetime = authn.DefaultLifetimes().Of(t.new.Kind)
		issued, err := authn.Issue(ctx, s, t.new)
		if err != nil {
			return Tokens{}, err
		}
		*t.to = issued.Text
	}
	if !loaded { // later on, the rules are those of who plays with the demo
		if err := applyRules(ctx, s, tokens.Service); err != nil {
			return Tokens{}, err
		}
	}
	if err := applyBans(ctx, s, tokens.Service); err != nil {
		return Tokens{}, err
	}
	return tokens, applyMode(ctx, s, tokens.Service)
}

// isOfItsTime reports whether a record belongs to the time at which the demo was
// first loaded, and is not loaded again: a message was sent, a stream has started,
// the messages of banned users are deleted, and users have signed in since, which
// changes what they grant.
func isOfItsTime(r *platformv1.Record) bool {
	switch r.GetKind().(type) {
	case *platformv1.Record_Category, *platformv1.Record_User, *platformv1.Record_Role,
		*platformv1.Record_Client:
		return false
	}
	return true
}

// applyBans bans users as a chat server would: with a service token, on behalf of the
// moderator.
func applyBans(ctx context.Context, s *store.Store, serviceToken string) error {
	service := &moderation.Service{Store: s}
	authenticator := authn.NewAuthenticator(s)
	for _, b := range Bans() {
		call, err := asUser(ctx, authenticator, serviceToken, b.Moderator, moderatov1.ModerationService_BanUser_FullMethodName)
		if err != nil {
			return err
		}
		_, err = service.BanUser(call, &moderatov1.BanUserRequest{
			ChannelId: b.Channel.String(), BanUserId: b.User.String(),
		})
		if errors.Is(err, apierr.New(moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR)) {
			continue // the moderator was banned or removed since the demo was loaded first
		}
		if err != nil {
			return fmt.Errorf("ban %s: %w", b.User, err)
		}
	}
	return nil
}

// applyMode turns on slow mode in the second channel, on behalf of its owner.
func applyMode(ctx context.Context, s *store.Store, serviceToken string) error {
	owner := makePeople()[1].ID
	call, err := asUser(ctx, authn.NewAuthenticator(s), serviceToken, owner, moderatov1.ChatRulesService_UpdateChatSettings_FullMethodName)
	if err != nil {
		return err
	}
	_, err = (&rules.Service{Store: s}).UpdateChatSettings(call, &moderatov1.UpdateChatSettingsRequest{ChannelId: owner.String(), SlowSeconds: new(int64(5))})
	if err != nil {
		return fmt.Errorf("slow mode of %s: %w", owner, err)
	}
	return nil
}

// asUser returns the context of a call of a method by a chat server, on behalf of a user.
func asUser(ctx context.Context, a *authn.Authenticator, serviceToken string, user uid.ID, method string) (context.Context, error) {
	caller, err := a.Authenticate(ctx, "", metadata.Pairs(
		authn.AuthorizationKey, "Bearer "+serviceToken,
		authn.ClientIDKey, People().ServiceClient,
		authn.ActingUserKey, user.String(),
	).Get)
	if err != nil {
		return nil, err
	}
	return authz.NewContext(authn.NewContext(ctx, caller), authz.Table[method]), nil
}
