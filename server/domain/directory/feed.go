// Package directory holds the users, channels and categories of the platform.
package directory

import (
	"context"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/category"
	"github.com/moderato-live/moderato/ent/channel"
	"github.com/moderato-live/moderato/ent/clip"
	"github.com/moderato-live/moderato/ent/stream"
	"github.com/moderato-live/moderato/ent/vod"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/feed"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/erasure"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// Service serves DirectoryService.
type Service struct {
	platformv1.UnsafeDirectoryServiceServer

	// Store is the database.
	Store *store.Store
	// Lists holds the limits that all complete lists share.
	Lists *paging.Lists
	// Chatters counts the users who post in a channel.
	Chatters *chat.Chatters
}

// PutUser creates or replaces a user.
func (s *Service) PutUser(ctx context.Context, req *platformv1.PutUserRequest) (*platformv1.PutUserResponse, error) {
	var row *ent.User
	respond := idempotency.Response(ctx, func() *platformv1.PutUserResponse {
		return &platformv1.PutUserResponse{User: userRecord(row)}
	})
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putUser(ctx, tx, req.GetUser())
		return err
	})
	if err != nil {
		return nil, apierr.In("user", err)
	}
	return respond(), nil
}

// GetUser returns a user, by id or by username.
func (s *Service) GetUser(ctx context.Context, req *platformv1.GetUserRequest) (*platformv1.GetUserResponse, error) {
	f := validate.Of(req)
	key := users.ParseKey(f, "userId", req.GetUserId(), "username", req.GetUsername())
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := users.Find(ctx, s.Store.Read.User, key)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &platformv1.GetUserResponse{User: userRecord(row)}, nil
}

// DeleteUser deletes a user.
func (s *Service) DeleteUser(ctx context.Context, req *platformv1.DeleteUserRequest) (*platformv1.DeleteUserResponse, error) {
	f := validate.Of(req)
	id := f.UUID("userId", req.GetUserId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	result := &platformv1.DeleteUserResponse{}
	idempotency.Result(ctx, &result)
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		pending, err := erasure.OfUser(ctx, s.Store, tx.Tx, id, tx.Now)
		result.Done, result.DoneAfter = pending == nil, nil
		if pending != nil {
			result.DoneAfter = erasure.DoneAfter(pending).Proto()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// PutChannel creates or replaces a channel.
func (s *Service) PutChannel(ctx context.Context, req *platformv1.PutChannelRequest) (*platformv1.PutChannelResponse, error) {
	var row *ent.Channel
	respond := idempotency.Response(ctx, func() *platformv1.PutChannelResponse {
		return &platformv1.PutChannelResponse{Channel: channelRecord(row)}
	})
	err := feed.WriteTo(ctx, s.Store, req.GetChannel().GetId(), func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putChannel(ctx, tx, req.GetChannel())
		return err
	})
	if err != nil {
		return nil, apierr.In("channel", err)
	}
	return respond(), nil
}

// GetChannel returns a channel.
func (s *Service) GetChannel(ctx context.Context, req *platformv1.GetChannelRequest) (*platformv1.GetChannelResponse, error) {
	f := validate.Of(req)
	id := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := s.Store.Read.Channel.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CHANNEL_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &platformv1.GetChannelResponse{Channel: channelRecord(row)}, nil
}

// DeleteChannel deletes a channel and everything that belongs to it.
func (s *Service) DeleteChannel(ctx context.Context, req *platformv1.DeleteChannelRequest) (*platformv1.DeleteChannelResponse, error) {
	f := validate.Of(req)
	id := f.UUID("channelId", req.GetChannelId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		return erasure.OfChannel(ctx, s.Store, tx.Tx, id, tx.Now)
	})
	return &platformv1.DeleteChannelResponse{}, err
}

// PutCategory creates or replaces a category.
func (s *Service) PutCategory(ctx context.Context, req *platformv1.PutCategoryRequest) (*platformv1.PutCategoryResponse, error) {
	var row *ent.Category
	respond := idempotency.Response(ctx, func() *platformv1.PutCategoryResponse {
		return &platformv1.PutCategoryResponse{Category: categoryRecord(row)}
	})
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		var err error
		row, err = putCategory(ctx, tx, req.GetCategory())
		return err
	})
	if err != nil {
		return nil, apierr.In("category", err)
	}
	return respond(), nil
}

// GetCategory returns a category.
func (s *Service) GetCategory(ctx context.Context, req *platformv1.GetCategoryRequest) (*platformv1.GetCategoryResponse, error) {
	f := validate.Of(req)
	id := f.Number("categoryId", req.GetCategoryId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	row, err := s.Store.Read.Category.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, apierr.New(moderatov1.Reason_REASON_CATEGORY_NOT_FOUND)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &platformv1.GetCategoryResponse{Category: categoryRecord(row)}, nil
}

// DeleteCategory deletes a category that is not in use.
func (s *Service) DeleteCategory(ctx context.Context, req *platformv1.DeleteCategoryRequest) (*platformv1.DeleteCategoryResponse, error) {
	f := validate.Of(req)
	id := f.Number("categoryId", req.GetCategoryId())
	if err := f.Err(); err != nil {
		return nil, err
	}
	err := feed.Write(ctx, s.Store, func(ctx context.Context, tx feed.Tx) error {
		return deleteCategory(ctx, tx, id)
	})
	return &platformv1.DeleteCategoryResponse{}, err
}

// deleteCategory locks the category before it checks whether the category is in use.
// A transaction that puts something into a category holds a share lock on it.
func deleteCategory(ctx context.Context, tx feed.Tx, id int64) error {
	_, err := tx.Category.Query().Where(category.ID(id), store.LockForUpdate).Exist(ctx)
	if err != nil {
		return err
	}
	for _, exists := range []func(context.Context) (bool, error){
		tx.Channel.Query().Where(channel.CategoryID(id)).Exist,
		tx.Category.Query().Where(category.ParentID(id)).Exist,
		tx.Stream.Query().Where(stream.CategoryID(id)).Exist,
		tx.Clip.Query().Where(clip.CategoryID(id)).Exist,
		tx.Vod.Query().Where(vod.CategoryID(id)).Exist,
	} {
		used, err := exists(ctx)
		if err != nil {
			return err
		}
		if used {
			return apierr.New(moderatov1.Reason_REASON_CATEGORY_IN_USE)
		}
	}
	_, err = tx.Category.Delete().Where(category.ID(id)).Exec(ctx)
	return err
}
