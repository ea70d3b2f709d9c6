// Package raid raids a channel of a demo with spam, for those who try the response to a
// raid: many new accounts follow the channel at once, and post a phrase that they disguise.
package raid

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	moderato "github.com/moderato-live/moderato/clients/go"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const (
	// inFlight is how many raiders act at the same time.
	inFlight = 32
	// usersPerRequest is how many users one message of the import creates.
	usersPerRequest = 500
)

// Raid is a raid of a channel.
type Raid struct {
	// Client calls the server with a service token.
	Client *moderato.Client
	// ChannelID is the channel.
	ChannelID string
	// Raiders is how many accounts raid.
	Raiders int
	// Messages is how many messages each of them posts.
	Messages int
	// Duration is the time over which the raiders come; 0 is as fast as possible.
	Duration time.Duration
	// Progress, if not nil, is called with the number of raiders who are done. Calls are
	// concurrent.
	Progress func(done int)
}

// Result says what happened in a raid.
type Result struct {
	// Posted is the number of messages that were posted.
	Posted int
	// Refused is the number of raiders who were banned or muted before they had posted all
	// their messages.
	Refused int
}

// Run creates the raiders, who are others in each raid, and has each follow the channel and
// post.
func (r *Raid) Run(ctx context.Context) (Result, error) {
	_, err := r.Client.Platform.Directory.GetChannel(ctx, &platformv1.GetChannelRequest{ChannelId: r.ChannelID})
	if err != nil {
		return Result{}, err
	}
	raiders := newRaiders(r.Raiders)
	if err := r.create(ctx, raiders); err != nil {
		return Result{}, fmt.Errorf("create the raiders: %w", err)
	}
	return r.attackAll(ctx, raiders)
}

// attackAll has all raiders follow the channel and post.
func (r *Raid) attackAll(ctx context.Context, raiders []*platformv1.UserRecord) (Result, error) {
	var done, posted, refused atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	start := time.Now()
	for i, raider := range raiders {
		select {
		case <-groupCtx.Done():
		case <-time.After(time.Until(start.Add(r.Duration * time.Duration(i) / time.Duration(len(raiders))))):
		}
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error {
			n, err := r.attack(groupCtx, raider.GetId(), i)
			posted.Add(int64(n))
			if isRefusal(err) {
				refused.Add(1)
			} else if err != nil {
				return err
			}
			count := int(done.Add(1))
			if r.Progress != nil {
				r.Progress(count)
			}
			return nil
		})
	}
	err := cmp.Or(group.Wait(), ctx.Err())
	return Result{Posted: int(posted.Load()), Refused: int(refused.Load())}, err
}

// create creates the raiders, as a platform imports its users.
func (r *Raid) create(ctx context.Context, raiders []*platformv1.UserRecord) error {
	stream, err := r.Client.Platform.Import.Import(ctx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(raiders, usersPerRequest) {
		request := &platformv1.ImportRequest{}
		for _, raider := range some {
			request.Records = append(request.Records, &platformv1.Record{Kind: &platformv1.Record_User{User: raider}})
		}
		if err := stream.Send(request); err != nil {
			if errors.Is(err, io.EOF) { // the server's error is in its response
				break
			}
			return err
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}

// attack has a raider follow the channel and post, and returns the number of messages that
// were posted. The number of the raider selects the messages.
func (r *Raid) attack(ctx context.Context, userID string, number int) (posted int, err error) {
	_, err = r.Client.Platform.Audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: r.ChannelID, UserId: userID})
	if err != nil {
		return 0, fmt.Errorf("follow the channel: %w", err)
	}
	for posted < r.Messages {
		_, err := r.Client.Platform.Chat.PostMessage(ctx, &platformv1.PostMessageRequest{
			ChannelId: r.ChannelID, UserId: userID, Text: message(number*r.Messages + posted),
		})
		if err != nil {
			return posted, fmt.Errorf("post a message: %w", err)
		}
		posted++
	}
	return posted, nil
}

// isRefusal reports whether a message was refused because its sender is banned or muted.
func isRefusal(err error) bool {
	reason := moderato.ReasonOf(err)
	return reason == moderatov1.Reason_REASON_USER_BANNED || reason == moderatov1.Reason_REASON_USER_MUTED
}

// The raiders' names. Accounts that are made by a program have similar ones.
var (
	firstNames = []string{"happy", "lucky", "golden", "shiny", "royal", "sunny", "speedy"}
	lastNames  = []string{"gem", "coin", "loot", "drop", "prize", "bonus"}
)

// newRaiders returns users whom the server does not have yet.
func newRaiders(count int) []*platformv1.UserRecord {
	wave := strings.ToLower(rand.Text()[:6])
	raiders := make([]*platformv1.UserRecord, count)
	for i := range raiders {
		raiders[i] = &platformv1.UserRecord{
			Id:       uuid.NewString(),
			Username: fmt.Sprintf("%s_%s_%s%04d", firstNames[i%len(firstNames)], lastNames[i%len(lastNames)], wave, i+1),
		}
	}
	return raiders
}
