package directory

import (
	"context"
	"errors"
	"strings"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/erasure"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/user"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store/counts"
)

// maxCategoryDepth bounds the walk from a category to its root.
const maxCategoryDepth = 32

func putCategory(ctx context.Context, tx feed.Tx, r *platformv1.CategoryRecord) (*ent.Category, error) {
	f := validate.Of(r)
	f.Number("id", r.GetId())
	name := f.Text("name", r.GetName())
	slug := f.Identifier("slug", r.GetSlug())
	image := f.URL("imageUrl", r.GetImageUrl())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := checkParent(ctx, tx, r); err != nil {
		return nil, err
	}
	update := tx.Category.UpdateOneID(r.GetId()).SetName(name).SetSlug(slug).SetImageURL(image)
	if r.ParentId == nil {
		update.ClearParentID()
	} else {
		update.SetParentID(r.GetParentId())
	}
	row, err := update.Save(ctx)
	if ent.IsNotFound(err) {
		row, err = tx.Category.Create().SetID(r.GetId()).SetNillableParentID(r.ParentId).
			SetName(name).SetSlug(slug).SetImageURL(image).
			Save(ctx)
	}
	return row, err
}

// checkParent rejects a parent that does not exist, or that is the category itself or
// one of its descendants. It keeps all ancestors from changing until the transaction
// ends, so that two concurrent calls cannot create a cycle.
func checkParent(ctx context.Context, tx feed.Tx, r *platformv1.CategoryRecord) error {
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
		if err := tx.RequireCategory(ctx, *above); err != nil {
			return err
		}
		row, err := tx.Category.Get(ctx, *above)
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

func putUser(ctx context.Context, tx feed.Tx, r *platformv1.UserRecord) (*ent.User, error) {
	f := validate.Of(r)
	id := f.UUID("id", r.GetId())
	if id == users.Deleted {
		f.Add("id", "is reserved")
	}
	username := f.Identifier("username", r.GetUsername())
	displayName := username
	if r.GetDisplayName() != "" {
		displayName = f.Text("displayName", r.GetDisplayName())
	}
	avatar := f.URL("avatarUrl", r.GetAvatarUrl())
	var accountCreatedAt *instant.Instant
	if at, isGiven := f.Time("createdAt", r.GetCreatedAt()); isGiven {
		accountCreatedAt = &at
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := users.Lock(ctx, tx.Store, tx.Tx, id); err != nil {
		return nil, err
	}
	slug := strings.ToLower(username)
	taken, err := tx.User.Query().Where(user.Slug(slug), user.IDNEQ(id)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if taken {
		return nil, apierr.New(moderatov1.Reason_REASON_USERNAME_TAKEN)
	}
	before, err := tx.User.Get(ctx, id)
	switch {
	case ent.IsNotFound(err):
		return tx.User.Create().SetID(id).SetUsername(username).SetSlug(slug).
			SetDisplayName(displayName).SetAvatarURL(avatar).SetCreatedAt(tx.Now).SetNillableAccountCreatedAt(accountCreatedAt).
			Save(ctx)
	case err != nil:
		return nil, err
	case before.DeletedAt != nil:
		return nil, apierr.New(moderatov1.Reason_REASON_BEING_DELETED)
	}
	update := tx.User.UpdateOne(before).SetUsername(username).SetSlug(slug).
		SetDisplayName(displayName).SetAvatarURL(avatar).ClearAccountCreatedAt()
	if accountCreatedAt != nil {
		update.SetAccountCreatedAt(*accountCreatedAt)
	}
	return update.Save(ctx)
}

func userRecord(u *ent.User) *platformv1.UserRecord {
	record := &platformv1.UserRecord{Id: u.ID.String(), Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL}
	if u.AccountCreatedAt != nil {
		record.CreatedAt = u.AccountCreatedAt.Proto()
	}
	return record
}

func putChannel(ctx context.Context, tx feed.Tx, r *platformv1.ChannelRecord) (*ent.Channel, error) {
	f := validate.Of(r)
	id := f.UUID("id", r.GetId())
	title := f.Text("title", r.GetTitle())
	bio := f.Text("bio", r.GetBio())
	tier := f.Number("tier", r.GetTier())
	lang := "en"
	if r.GetLang() != "" {
		lang = f.Language("lang", r.GetLang())
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	// Not Hold: creating the channel updates the user's row, and two transactions that
	// both held it would deadlock.
	if err := users.Lock(ctx, tx.Store, tx.Tx, id); err != nil {
		return nil, err
	}
	if err := tx.RequireUser(ctx, id); err != nil {
		return nil, err
	}
	if err := tx.RequireCategoryOrNone(ctx, r.GetCategoryId()); err != nil {
		return nil, err
	}
	before, err := tx.LockChannel(ctx, id)
	if errors.Is(err, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)) {
		return createChannel(ctx, tx, &ent.Channel{ID: id, Title: title, Bio: bio, Lang: lang, CategoryID: r.GetCategoryId(), Tier: tier})
	}
	if err != nil {
		return nil, err
	}
	row, err := tx.Channel.UpdateOne(before).SetTitle(title).SetBio(bio).SetLang(lang).SetCategoryID(r.GetCategoryId()).SetTier(tier).Save(ctx)
	if err != nil {
		return nil, err
	}
	if row.IsLive {
		err = tx.Stream.Update().Where(stream.ChannelID(id), stream.StartedAt(*row.LiveStartedAt)).
			SetTitle(title).SetLang(lang).SetCategoryID(r.GetCategoryId()).
			Exec(ctx)
		if err != nil {
			return nil, err
		}
	}
	return row, counts.Move(ctx, tx.Tx, counts.Of(before), counts.Of(row))
}

func createChannel(ctx context.Context, tx feed.Tx, c *ent.Channel) (*ent.Channel, error) {
	goes, err := tx.Erasure.Query().Where(erasure.ID(c.ID)).Exist(ctx)
	if err != nil {
		return nil, err
	}
	if goes {
		return nil, apierr.New(moderatov1.Reason_REASON_BEING_DELETED)
	}
	row, err := tx.Channel.Create().SetID(c.ID).SetTitle(c.Title).SetBio(c.Bio).SetLang(c.Lang).
		SetCategoryID(c.CategoryID).SetTier(c.Tier).SetCreatedAt(tx.Now).
		Save(ctx)
	if err != nil {
		return nil, err
	}
	if err := tx.RightsChanged(ctx, c.ID); err != nil {
		return nil, err
	}
	return row, counts.Move(ctx, tx.Tx, nil, counts.Of(row))
}

func channelRecord(c *ent.Channel) *platformv1.ChannelRecord {
	return &platformv1.ChannelRecord{Id: c.ID.String(), Title: c.Title, Bio: c.Bio, Lang: c.Lang, CategoryId: c.CategoryID, Tier: c.Tier}
}

// The names of category 0, which means no category and has no row.
const (
	UncategorizedName = "Uncategorized"
	UncategorizedSlug = "uncategorized"
)
