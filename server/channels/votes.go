package channels

import (
	"context"
	"strconv"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/fault"
	"github.com/moderato-live/moderato/server/instant"
	"github.com/moderato-live/moderato/server/roles"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/validate"
)

// ListVotes answers the votes for a channel, of one week or of all.
func (s *Service) ListVotes(ctx context.Context, req *moderatov1.ListVotesRequest) (*moderatov1.ListVotesResponse, error) {
	var f validate.Fields
	channelID := f.UUID("channelId", req.GetChannelId())
	epoch := parseEpoch(&f, req.GetEpoch())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := authorize(ctx, channelID); err != nil {
		return nil, err
	}
	index, where, args := "vote_channel_id_voted_at_id", "", []any{channelID}
	if epoch != nil {
		index, where, args = "vote_channel_id_epoch_voted_at_id", " AND epoch = ?", append(args, *epoch)
	}
	var result moderatov1.ListVotesResponse
	err := store.QueryEach(ctx, s.Store.Read, `
		SELECT id, username, address, amount, voted_at FROM votes`+s.Store.ByIndex(index)+`
		WHERE channel_id = ?`+where+` ORDER BY voted_at DESC, id DESC LIMIT ?`,
		append(args, s.MaxResults+1),
		func(scan func(...any) error) error {
			var id uid.ID
			var votedAt instant.Instant
			var v moderatov1.Vote
			err := scan(&id, &v.Username, &v.Address, &v.Amount, &votedAt)
			v.Id, v.VotedAt = id.String(), votedAt.Proto()
			result.Votes = append(result.Votes, &v)
			return err
		})
	if err == nil {
		err = roles.CheckChannel(ctx, s.Store, channelID)
	}
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	if len(result.GetVotes()) > s.MaxResults {
		return nil, fault.New(moderatov1.Reason_REASON_RESULT_TOO_LARGE)
	}
	return &result, nil
}

// parseEpoch reads a week number; nil is all weeks.
func parseEpoch(f *validate.Fields, text string) *int64 {
	switch text {
	case "all":
		return nil
	case "":
		f.Add("epoch", "is required")
		return nil
	}
	epoch, err := strconv.ParseInt(text, 10, 64)
	if err != nil || epoch < 0 || strconv.FormatInt(epoch, 10) != text {
		f.Add("epoch", "must be a week number of 0 or more, or all")
	}
	return &epoch
}
