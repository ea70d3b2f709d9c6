package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/grant"
	"github.com/moderato-live/moderato/ent/message"
	"github.com/moderato-live/moderato/ent/role"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/counts"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/messages"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// putter puts records in a transaction: it checks them, updates what is there
// under their key, or else creates it.
type putter struct {
	*store.Store
	*ent.Tx

	now instant.Instant
}

func (p putter) category(ctx context.Context, r *platformv1.CategoryRecord) error {
	var f validate.Fields
	if r.GetId() < 1 {
		f.Add("id", "must be 1 or more")
	}
	name := f.Text("name", r.GetName(), 1, validate.MaxName)
	slug := f.Slug("slug", r.GetSlug())
	image := f.URL("imageUrl", r.GetImageUrl())
	if err := f.Err(); err != nil {
		return err
	}
	if r.ParentId != nil {
		if err := p.requireCategory(ctx, r.GetParentId()); err != nil {
			return err
		}
	}
	update := p.Category.UpdateOneID(r.GetId()).SetName(name).SetSlug(slug).SetImageURL(image)
	if r.ParentId == nil {
		update.ClearParentID()
	} else {
		update.SetParentID(r.GetParentId())
	}
	return orCreate(update.Exec(ctx), func() error {
		return p.Category.Create().SetID(r.GetId()).SetNillableParentID(r.ParentId).
			SetName(name).SetSlug(slug).SetImageURL(image).
			Exec(ctx)
	})
}

// orCreate creates what an update did not find.
func orCreate(updated error, create func() error) error {
	if ent.IsNotFound(updated) {
		return create()
	}
	return updated
}

func (p putter) user(ctx context.Context, r *platformv1.UserRecord) error {
	var f validate.Fields
	id := f.UUID("id", r.GetId())
	username := f.Username("username", r.GetUsername())
	displayName := username
	if r.GetDisplayName() != "" {
		displayName = f.Text("displayName", r.GetDisplayName(), 1, validate.MaxName)
	}
	avatar := f.URL("avatarUrl", r.GetAvatarUrl())
	if err := f.Err(); err != nil {
		return err
	}
	slug := strings.ToLower(username)
	taken, err := p.User.Query().Where(user.Slug(slug), user.IDNEQ(id)).Exist(ctx)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(moderatov1.Reason_REASON_USERNAME_TAKEN)
	}
	err = p.User.UpdateOneID(id).SetUsername(username).SetSlug(slug).
		SetDisplayName(displayName).SetAvatarURL(avatar).
		Exec(ctx)
	return orCreate(err, func() error {
		return p.User.Create().SetID(id).SetUsername(username).SetSlug(slug).
			SetDisplayName(displayName).SetAvatarURL(avatar).SetCreatedAt(p.now).
			Exec(ctx)
	})
}

func (p putter) channel(ctx context.Context, r *platformv1.ChannelRecord) error {
	var f validate.Fields
	id := f.UUID("id", r.GetId())
	title := f.Text("title", r.GetTitle(), 1, validate.MaxTitle)
	bio := f.Text("bio", r.GetBio(), 0, validate.MaxBio)
	lang := "en"
	if r.GetLang() != "" {
		lang = f.Language("lang", r.GetLang())
	}
	if err := f.Err(); err != nil {
		return err
	}
	if err := p.requireUser(ctx, id); err != nil {
		return err
	}
	if err := p.requireCategoryOrNone(ctx, r.GetCategoryId()); err != nil {
		return err
	}
	before, err := p.lockChannel(ctx, id)
	if errors.Is(err, fault.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		err = p.Channel.Create().SetID(id).SetTitle(title).SetBio(bio).SetLang(lang).
			SetCategoryID(r.GetCategoryId()).SetCreatedAt(p.now).
			Exec(ctx)
		if err != nil {
			return err
		}
		return counts.Move(ctx, p.Tx, nil, &counts.Bucket{Category: r.GetCategoryId()})
	}
	if err != nil {
		return err
	}
	err = p.Channel.UpdateOne(before).SetTitle(title).SetBio(bio).SetLang(lang).SetCategoryID(r.GetCategoryId()).Exec(ctx)
	if err != nil {
		return err
	}
	return counts.Move(ctx, p.Tx, bucketOf(before), &counts.Bucket{Category: r.GetCategoryId(), IsLive: before.IsLive})
}

func (p putter) role(ctx context.Context, r *platformv1.RoleRecord) error {
	var f validate.Fields
	channelID := f.UUID("channelId", r.GetChannelId())
	userID := f.UUID("userId", r.GetUserId())
	name := f.Choice("role", r.GetRole(), roles.Names()...)
	if err := f.Err(); err != nil {
		return err
	}
	if channelID == userID {
		return fault.New(moderatov1.Reason_REASON_TARGET_IS_CHANNEL)
	}
	if err := errors.Join(p.requireChannel(ctx, channelID), p.requireUser(ctx, userID)); err != nil {
		return err
	}
	held, err := p.Role.Query().Where(role.ChannelID(channelID), role.UserID(userID), role.Role(name)).Exist(ctx)
	if err != nil || held {
		return err
	}
	return p.Role.Create().SetID(uid.New()).SetChannelID(channelID).SetUserID(userID).
		SetRole(name).SetCreatedAt(p.now).
		Exec(ctx)
}

func (p putter) message(ctx context.Context, r *platformv1.MessageRecord) error {
	var f validate.Fields
	m := messages.Message{
		ID:        f.UUID("id", r.GetId()),
		ChannelID: f.UUID("channelId", r.GetChannelId()),
		UserID:    f.UUID("userId", r.GetUserId()),
		Text:      f.Message("text", r.GetText()),
	}
	if r.GetSentAt() == nil {
		f.Add("sentAt", "is required")
	}
	if err := f.Err(); err != nil {
		return err
	}
	m.SentAt = instant.OfProto(r.GetSentAt())
	if err := errors.Join(p.requireChannel(ctx, m.ChannelID), p.requireUser(ctx, m.UserID)); err != nil {
		return err
	}
	exists, err := p.Message.Query().Where(message.ID(m.ID)).Exist(ctx)
	if err != nil || exists {
		return err
	}
	return messages.Import(ctx, p.Tx, m)
}

func (p putter) client(ctx context.Context, r *platformv1.ClientRecord) error {
	var f validate.Fields
	id := f.ClientID("id", r.GetId())
	name := f.Text("name", r.GetName(), 1, validate.MaxName)
	if err := f.Err(); err != nil {
		return err
	}
	err := p.Application.UpdateOneID(id).SetName(name).SetService(r.GetService()).Exec(ctx)
	return orCreate(err, func() error {
		return p.Application.Create().SetID(id).SetName(name).SetService(r.GetService()).SetCreatedAt(p.now).Exec(ctx)
	})
}

func (p putter) grant(ctx context.Context, r *platformv1.GrantRecord) error {
	var f validate.Fields
	clientID := f.ClientID("clientId", r.GetClientId())
	userID := f.UUID("userId", r.GetUserId())
	for i, scope := range r.GetScopes() {
		if !slices.Contains(auth.Scopes(), scope) {
			f.Add(fmt.Sprintf("scopes[%d]", i), "must be one of "+strings.Join(auth.Scopes(), ", "))
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	if err := errors.Join(p.requireClient(ctx, clientID), p.requireUser(ctx, userID)); err != nil {
		return err
	}
	scopes := strings.Join(r.GetScopes(), " ")
	updated, err := p.Grant.Update().Where(grant.ClientID(clientID), grant.UserID(userID)).SetScopes(scopes).Save(ctx)
	if err != nil || updated > 0 {
		return err
	}
	return p.Grant.Create().SetID(uid.New()).SetClientID(clientID).SetUserID(userID).SetScopes(scopes).Exec(ctx)
}
