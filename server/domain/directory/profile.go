package directory

import (
	"context"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/user"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// maxUsers is the number of users that one call of ListUsers may name.
const maxUsers = 100

// GetProfile returns the user of the token, or the user whom an app names.
func (s *Service) GetProfile(ctx context.Context, req *moderatov1.GetProfileRequest) (*moderatov1.GetProfileResponse, error) {
	f := validate.Of(req)
	caller := authn.FromContext(ctx)
	key := users.Key{ID: caller.UserID}
	if isNamed := req.GetUserId() != "" || req.GetUsername() != ""; isNamed || !caller.ActsAsUser() {
		key = users.ParseKey(f, "userId", req.GetUserId(), "username", req.GetUsername())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	u, err := s.findVisible(ctx, key)
	if err != nil {
		return nil, err
	}
	profile := &moderatov1.GetProfileResponse{
		UserId: u.ID.String(), Username: u.Username, Slug: u.Slug, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL,
	}
	hasChannel, err := s.Store.Read.Channel.Query().Where(channel.ID(u.ID)).Exist(ctx)
	if hasChannel {
		profile.ChannelId = &profile.UserId
	}
	return profile, s.Store.Classify(err)
}

// findVisible returns the user with a key. A caller that acts as a user gets only that user,
// and does not learn whether another one exists; an app gets any.
func (s *Service) findVisible(ctx context.Context, key users.Key) (*ent.User, error) {
	caller := authn.FromContext(ctx)
	wanted := key
	if caller.ActsAsUser() {
		wanted = users.Key{ID: caller.UserID}
		if key.Slug == "" && key != wanted {
			return nil, apierr.New(moderatov1.Reason_REASON_NOT_SELF)
		}
	}
	u, err := users.Find(ctx, s.Store.Read.User, wanted)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if key.Slug != "" && key.Slug != u.Slug {
		return nil, apierr.New(moderatov1.Reason_REASON_NOT_SELF)
	}
	return u, nil
}

// ListUsers returns the users that exist among those that a request names.
func (s *Service) ListUsers(ctx context.Context, req *moderatov1.ListUsersRequest) (*moderatov1.ListUsersResponse, error) {
	keys, err := parseUsers(req)
	if err != nil {
		return nil, err
	}
	var ids []uid.ID
	var slugs []string
	for _, key := range keys {
		if key.Slug == "" {
			ids = append(ids, key.ID)
		} else {
			slugs = append(slugs, key.Slug)
		}
	}
	found, err := s.Store.Read.User.Query().Where(user.Or(user.IDIn(ids...), user.SlugIn(slugs...)), user.DeletedAtIsNil()).All(ctx)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &moderatov1.ListUsersResponse{Users: inOrder(keys, found)}, nil
}

// parseUsers returns the keys of the users that a request names, in its order.
func parseUsers(req *moderatov1.ListUsersRequest) ([]users.Key, error) {
	f := validate.Of(req)
	n := len(req.GetUserId()) + len(req.GetUsername())
	switch {
	case n == 0:
		f.Add("userId[]", "is required, or username[] instead")
	case f.AtMost("userId[]", len(req.GetUserId())) && f.AtMost("username[]", len(req.GetUsername())) && n > maxUsers:
		f.Add("username[]", "must have at most 100 values, together with userId[]")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	keys := make([]users.Key, 0, n)
	for _, id := range req.GetUserId() {
		keys = append(keys, users.Key{ID: f.UUID("userId[]", id)})
	}
	for _, name := range req.GetUsername() {
		keys = append(keys, users.Key{Slug: strings.ToLower(f.Mention("username[]", name))})
	}
	return keys, f.Err()
}

// inOrder returns the users in the order of the keys that name them, each once.
func inOrder(keys []users.Key, found []*ent.User) []*moderatov1.UserSummary {
	byKey := make(map[users.Key]*ent.User, 2*len(found))
	for _, u := range found {
		byKey[users.Key{ID: u.ID}], byKey[users.Key{Slug: u.Slug}] = u, u
	}
	var summaries []*moderatov1.UserSummary
	listed := map[uid.ID]bool{}
	for _, key := range keys {
		if u := byKey[key]; u != nil && !listed[u.ID] {
			listed[u.ID] = true
			summaries = append(summaries, &moderatov1.UserSummary{
				Id: u.ID.String(), DisplayName: u.DisplayName, Slug: u.Slug, AvatarUrl: u.AvatarURL,
			})
		}
	}
	return summaries
}
