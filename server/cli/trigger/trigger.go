// Package trigger causes events of every type, for those who develop a program that
// receives events. It calls the operations whose effect the events are, so the events are
// real ones, and first undoes what would keep an operation from having an effect.
package trigger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// Channel triggers the events of a channel, with a service token.
type Channel struct {
	// Client calls the server with a service token.
	Client *moderato.Client
	// ID is the channel.
	ID string
	// UserID is the user whom the events are about. If it is empty, each event is about
	// another test user, who is created.
	UserID string

	users int // how many test users were used
}

// FirstChannel returns the id of the first channel of a server.
func FirstChannel(ctx context.Context, client *moderato.Client) (string, error) {
	limit := int32(1)
	list, err := client.Channels.ListChannels(ctx, &moderatov1.ListChannelsRequest{Limit: &limit})
	if err != nil {
		return "", err
	}
	if len(list.GetRows()) == 0 {
		return "", errors.New("the server has no channel")
	}
	return list.GetRows()[0].GetId(), nil
}

// Trigger causes an event. It returns what was done, such as "the owner bans Test Viewer 1".
func (c *Channel) Trigger(ctx context.Context, r Recipe) (did string, err error) {
	a := &act{Client: c.Client, channelID: c.ID}
	if err := c.cast(ctx, a, r); err != nil {
		return "", err
	}
	return strings.Replace(r.Does, "a user", a.userName, 1), a.perform(ctx, r)
}

// namespace is that of the ids of test users: a user with a number always has the same id.
var namespace = uuid.MustParse("5d3ae0a4-4f0f-4d9c-8a55-3c1c8f6f3d0e")

// cast chooses the user of an event.
func (c *Channel) cast(ctx context.Context, a *act, r Recipe) error {
	if r.aboutNobody {
		return nil
	}
	a.userID = c.UserID
	if a.userID != "" {
		found, err := c.Client.Platform.Directory.GetUser(ctx, &platformv1.GetUserRequest{UserId: c.UserID})
		a.userName = found.GetUser().GetDisplayName()
		return err
	}
	c.users++
	a.userID = uuid.NewSHA1(namespace, fmt.Append(nil, c.users)).String()
	a.userName = fmt.Sprintf("Test Viewer %d", c.users)
	_, err := c.Client.Platform.Directory.PutUser(ctx, &platformv1.PutUserRequest{User: &platformv1.UserRecord{
		Id: a.userID, Username: fmt.Sprintf("test_viewer_%d", c.users), DisplayName: a.userName,
	}})
	return err
}

// act is the cause of one event.
type act struct {
	*moderato.Client

	channelID        string
	userID, userName string
	// messageID is the chat message that was posted last.
	messageID string
}

// step is a call of an operation.
type step func(context.Context, *act) error

// perform performs the steps of a recipe.
func (a *act) perform(ctx context.Context, r Recipe) error {
	for _, s := range r.before {
		if err := s(ctx, a); err != nil {
			return err
		}
	}
	return r.cause(ctx, a)
}

// asOwner returns the context of calls in the name of the channel's owner.
func (a *act) asOwner(ctx context.Context) context.Context {
	return moderato.ActingAs(ctx, a.channelID)
}

// call calls an operation whose response does not matter.
func call[Request, Response any](
	ctx context.Context, operation func(context.Context, Request, ...grpc.CallOption) (Response, error), request Request,
) error {
	_, err := operation(ctx, request)
	return err
}

// oneOf returns one of some values.
func oneOf[T any](values ...T) T {
	return values[rand.IntN(len(values))]
}
