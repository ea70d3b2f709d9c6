package platform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/erasure"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/apierr"
	"github.com/moderato-live/moderato/server/authz"
	"github.com/moderato-live/moderato/server/counts"
	"github.com/moderato-live/moderato/server/users"
	"github.com/moderato-live/moderato/server/validate"
)

// maxCategoryDepth bounds the walk from a category to its root.
const maxCategoryDepth = 32

func (p putter) category(ctx context.Context, r *platformv1.CategoryRecord) (*ent.Category, error) {
	var f validate.Fields
	if r.GetId() < 1 || r.GetId() > counts.MaxCategory {
		f.Add("id", fmt.Sprintf("must be 1 to %d", int64(counts.MaxCategory)))
	}
	name := f.Text("name", r.GetName(), 1, validate.MaxName)
	slug := f.Slug("slug", r.GetSlug())
	image := f.URL("imageUrl", r.GetImageUrl())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := p.checkParent(ctx, r); err != nil {
		return nil, err
	}
	update := p.Category.UpdateOneID(r.GetId()).SetName(name).SetSlug(slug).SetImageURL(image)
	if r.ParentId == nil {
		update.ClearParentID()
	} else {
		update.SetParentID(r.GetParentId())
	}
	row, err := update.Save(ctx)
	if ent.IsNotFound(err) {
		row, err = p.Category.Create().SetID(r.GetId()).SetNillableParentID(r.ParentId).
			SetName(name).SetSlug(slug).SetImageURL(image).
			Save(ctx)
	}
	return row, err
}

// checkParent rejects a parent that does not exist, or that is the category itself or
// one of its descendants. It keeps all ancestors from changing until the transaction
// ends, so that two concurrent calls cannot create a cycle.
func (p putter) checkParent(ctx context.Context, r *platformv1.CategoryRecord) error {
	if r.ParentId == nil {
		return nil
	}
	above := r.ParentId
	for range maxCategoryDepth {
		if above == nil {
			return nil
		}
		if *above == r.GetId() {
			return apierr.Invalid(apierr.Violation{Field: "parentId", Description: "must not be the category itself, nor one below it"})
		}
		if err := p.requireCategory(ctx, *above); err != nil {
			return err
		}
		row, err := p.Category.Get(ctx, *above)
		if err != nil {
			return err
		}
		above = row.ParentID
	}
	return apierr.Invalid(apierr.Violation{Field: "parentId", Description: "is too deep"})
}

func categoryRecord(c *ent.Category) *platformv1.CategoryRecord {
	return &platformv1.CategoryRecord{Id: c.ID, ParentId: c.ParentID, Name: c.Name, Slug: c.Slug, ImageUrl: c.ImageURL}
}

func (p putter) user(ctx context.Context, r *platformv1.UserRecord) (*ent.User, error) {
	var f validate.Fields
	id := f.UUID("id", r.GetId())
	if id == users.Deleted {
		f.Add("id", "is reserved")
	}
	username := f.Username("username", r.GetUsername())
	displayName := username
	if r.GetDisplayName() != "" {
		displayName = f.Text("displayName", r.GetDisplayName(), 1, validate.MaxName)
	}
	avatar := f.URL("avatarUrl", r.GetAvatarUrl())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := users.Lock(ctx, p.Store, p.Tx, id); err != nil {
		return nil, err
	}
	slug := strings.ToLower(username)
	taken, err := p.User.Query().Where(user.Slug(slug), user.IDNEQ(id)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, apierr.New(moderatov1.Reason_REASON_USERNAME_TAKEN)
	}
	before, err := p.User.Get(ctx, id)
	switch {
	case ent.IsNotFound(err):
		return p.User.Create().SetID(id).SetUsername(username).SetSlug(slug).
			SetDisplayName(displayName).SetAvatarURL(avatar).SetCreatedAt(p.now).
			Save(ctx)
	case err != nil:
		return nil, err
	case before.DeletedAt != nil:
		return nil, apierr.New(moderatov1.Reason_REASON_BEING_DELETED)
	}
	return p.User.UpdateOne(before).SetUsername(username).SetSlug(slug).
		SetDisplayName(displayName).SetAvatarURL(avatar).
		Save(ctx)
}

func userRecord(u *ent.User) *platformv1.UserRecord {
	return &platformv1.UserRecord{Id: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL}
}

func (p putter) channel(ctx context.Context, r *platformv1.ChannelRecord) (*ent.Channel, error) {
	var f validate.Fields
	id := f.UUID("id", r.GetId())
	title := f.Text("title", r.GetTitle(), 1, validate.MaxTitle)
	bio := f.Text("bio", r.GetBio(), 0, validate.MaxBio)
	lang := "en"
	if r.GetLang() != "" {
		lang = f.Language("lang", r.GetLang())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if _, err := users.Hold(ctx, p.Store, p.Tx, id); err != nil {
		return nil, err
	}
	if err := p.requireCategoryOrNone(ctx, r.GetCategoryId()); err != nil {
		return nil, err
	}
	before, err := p.lockChannel(ctx, id)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return p.createChannel(ctx, &ent.Channel{ID: id, Title: title, Bio: bio, Lang: lang, CategoryID: r.GetCategoryId()})
	}
	if err != nil {
		return nil, err
	}
	row, err := p.Channel.UpdateOne(before).SetTitle(title).SetBio(bio).SetLang(lang).SetCategoryID(r.GetCategoryId()).Save(ctx)
	if err != nil {
		return nil, err
	}
	if row.IsLive {
		err = p.Stream.Update().Where(stream.ChannelID(id), stream.StartedAt(*row.LiveStartedAt)).
			SetTitle(title).SetLang(lang).SetCategoryID(r.GetCategoryId()).
			Exec(ctx)
		if err != nil {
			return nil, err
		}
	}
	return row, counts.Move(ctx, p.Tx, bucketOf(before), bucketOf(row))
}

func (p putter) createChannel(ctx context.Context, c *ent.Channel) (*ent.Channel, error) {
	goes, err := p.Erasure.Query().Where(erasure.ID(c.ID)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if goes {
		return nil, apierr.New(moderatov1.Reason_REASON_BEING_DELETED)
	}
	row, err := p.Channel.Create().SetID(c.ID).SetTitle(c.Title).SetBio(c.Bio).SetLang(c.Lang).
		SetCategoryID(c.CategoryID).SetCreatedAt(p.now).
		Save(ctx)
	if err != nil {
		return nil, err
	}
	if err := authz.RightsChanged(ctx, p.Tx, c.ID); err != nil {
		return nil, err
	}
	return row, counts.Move(ctx, p.Tx, nil, bucketOf(row))
}

func channelRecord(c *ent.Channel) *platformv1.ChannelRecord {
	return &platformv1.ChannelRecord{Id: c.ID.String(), Title: c.Title, Bio: c.Bio, Lang: c.Lang, CategoryId: c.CategoryID}
}

// bucketOf returns the bucket in which a channel is counted.
func bucketOf(c *ent.Channel) *counts.Bucket {
	return &counts.Bucket{Category: c.CategoryID, IsLive: c.IsLive}
}
