package content

import (
	"context"
	"strconv"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// voteRow is a vote with its place in the list.
type voteRow struct {
	listing.TimePlace
	*moderatov1.Vote
}

// ListVotes returns the votes for a channel, of one week or of all weeks, newest first.
func (s *Service) ListVotes(ctx context.Context, req *moderatov1.ListVotesRequest) (*moderatov1.ListVotesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	epoch := parseEpoch(f, req.GetEpoch())
	window := paging.ParseWindow(f, req.Limit, req.GetCursor())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.Authorize(ctx, channelID); err != nil {
		return nil, err
	}
	rows, pagination, err := paging.Complete[voteRow, listing.TimePlace]{
		Lists: s.Lists, Store: s.Store, Name: "ListVotes/" + channelID.String() + "/" + req.GetEpoch(),
		Read: func(ctx context.Context, after *listing.TimePlace, limit int) ([]voteRow, error) {
			return s.readVotes(ctx, votesQuery{channelID, epoch, after, limit})
		},
		Place: func(v voteRow) listing.TimePlace { return v.TimePlace },
	}.Rows(ctx, window)
	if err == nil {
		err = listing.CheckChannel(ctx, s.Store, channelID)
	}
	if err != nil {
		return nil, err
	}
	result := &moderatov1.ListVotesResponse{Pagination: pagination}
	for _, v := range rows {
		result.Votes = append(result.Votes, v.Vote)
	}
	return result, nil
}

// votesQuery holds the parameters of votesPage.
type votesQuery struct {
	channelID uid.ID
	epoch     *int64             // nil for all weeks
	after     *listing.TimePlace // nil for the start
	limit     int
}

// votesPage selects votes of a channel.
var votesPage = store.Declare(func(d *store.Dialect, q votesQuery) (string, []any) {
	from, args := q.from(d)
	if q.after != nil {
		below, more := d.Below("voted_at", "id", q.after.At, q.after.ID)
		from, args = from+" AND "+below, append(args, more...)
	}
	return "SELECT voted_at, id, username, address, amount, " + users.Erased("votes.user_id") + " FROM " + from + " ORDER BY voted_at DESC, id DESC" + store.Limit(q.limit), args
})

// from returns the FROM clause and the WHERE condition for all votes of the list.
func (q votesQuery) from(d *store.Dialect) (from string, args []any) {
	if q.epoch == nil {
		return "votes" + d.ByIndex("vote_channel_id_voted_at_id") + " WHERE channel_id = ?", []any{q.channelID}
	}
	return "votes" + d.ByIndex("vote_channel_id_epoch_voted_at_id") + " WHERE channel_id = ? AND epoch = ?", []any{q.channelID, *q.epoch}
}

func (s *Service) readVotes(ctx context.Context, q votesQuery) (rows []voteRow, err error) {
	err = votesPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		v := voteRow{listing.TimePlace{At: r.Instant(), ID: r.ID()}, new(moderatov1.Vote)}
		v.Id, v.VotedAt, v.Username, v.Address, v.Amount = v.ID.String(), v.At.Proto(), r.Text(), r.Text(), r.Int()
		if isErased := r.Bool(); isErased {
			v.Username, v.Address = users.DeletedUsername, ""
		}
		rows = append(rows, v)
		return nil
	})
	return rows, err
}

// parseEpoch reads a week number. It returns nil for all weeks.
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
