package moderation

import (
	"context"
	"crypto/rand"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

const (
	// sweepTokenLifetime is how long the preview of a sweep can be committed.
	sweepTokenLifetime = 5 * time.Minute
	// sweepKept is how long a preview is kept after its token has expired, so that the
	// error says so.
	sweepKept = 10 * time.Minute
	// userPreviews and channelPreviews are how many previews that found users are kept of a
	// user in a channel, and of a channel: the latest ones.
	userPreviews    = 5
	channelPreviews = 20
	// sweepTransaction is how many users a sweep bans in one transaction.
	sweepTransaction = 1000
	// chunksPerStatement is how many chunks one statement stores.
	chunksPerStatement = 10
	// defaultFollowAge is the age of the follows that exempt if the request has none.
	defaultFollowAge = 7 * 24 * time.Hour
	// sampleSize is how many users a preview shows.
	sampleSize = 20
)

// conditions are those of a sweep. A duration of 0 is a condition that is not given.
type conditions struct {
	channelID         uid.ID
	phrase, pattern   string
	matcher           textmatch.Matcher // nil if there is neither a phrase nor a pattern; see compile
	within            time.Duration
	followedWithin    time.Duration
	firstWithin       time.Duration // of the first message
	exemptFollowAge   time.Duration
	exemptSubscribers bool
}

// needsMessages reports whether only users who posted can match.
func (q *conditions) needsMessages() bool { return q.matcher != nil || q.firstWithin > 0 }

func parseConditions(req *moderatov1.PreviewSweepRequest) (*conditions, error) {
	f := validate.Of(req)
	q := &conditions{channelID: f.UUID("channelId", req.GetChannelId()), exemptSubscribers: req.ExemptSubscribers == nil || req.GetExemptSubscribers()}
	q.parseText(f, req)
	if req.WithinSeconds == nil {
		f.Add("withinSeconds", "is required")
	}
	q.within = seconds(f, "withinSeconds", req.WithinSeconds)
	q.followedWithin = seconds(f, "followedWithinSeconds", req.FollowedWithinSeconds)
	q.firstWithin = seconds(f, "firstMessageWithinSeconds", req.FirstMessageWithinSeconds)
	q.exemptFollowAge = seconds(f, "exemptFollowersOlderThanSeconds", req.ExemptFollowersOlderThanSeconds)
	if req.ExemptFollowersOlderThanSeconds == nil {
		q.exemptFollowAge = defaultFollowAge
	}
	if req.Phrase == nil && req.Pattern == nil && req.FollowedWithinSeconds == nil && req.FirstMessageWithinSeconds == nil {
		f.Add("phrase", "is required, or pattern, followedWithinSeconds or firstMessageWithinSeconds instead")
	}
	return q, f.Err()
}

func seconds(f *validate.Fields, field string, value *int64) time.Duration {
	if value == nil {
		return 0
	}
	return time.Duration(f.Number(field, *value)) * time.Second
}

func (q *conditions) parseText(f *validate.Fields, req *moderatov1.PreviewSweepRequest) {
	var err error
	switch {
	case req.Phrase != nil && req.Pattern != nil:
		f.Exclude("phrase", "pattern")
	case req.Phrase != nil:
		q.phrase = req.GetPhrase()
		if q.matcher, err = textmatch.Phrase(q.phrase); err != nil {
			f.Add("phrase", err.Error())
		}
	case req.Pattern != nil:
		q.pattern = req.GetPattern()
		if err := checkPattern(q.pattern); err != nil {
			f.Add("pattern", err.Error())
		}
	}
}

// checkPattern checks what takes no time.
func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return textmatch.ErrMatchesAll
	case utf8.RuneCountInString(pattern) > textmatch.MaxLength:
		return textmatch.ErrTooLong
	}
	return nil
}

// compile compiles the pattern, if there is one. This takes more processor time than all else
// in a request, so only those who may sweep the channel cause it, in their turns.
func (q *conditions) compile() (err error) {
	if q.pattern == "" {
		return nil
	}
	if q.matcher, err = textmatch.Pattern(q.pattern); err != nil {
		return apierr.Invalid(apierr.Violation{Field: "pattern", Description: err.Error()})
	}
	return nil
}

// PreviewSweep finds the users who match the conditions of a sweep, and stores them.
func (s *Service) PreviewSweep(ctx context.Context, req *moderatov1.PreviewSweepRequest) (*moderatov1.PreviewSweepResponse, error) {
	q, err := parseConditions(req)
	if err != nil {
		return nil, err
	}
	if err := authz.AuthorizeModerator(ctx, s.Store, q.channelID); err != nil {
		return nil, err
	}
	turns, err := s.Sweeps.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer turns.end()
	if err := q.compile(); err != nil {
		return nil, err
	}
	found, err := findSweep(ctx, s.Store, q, turns, defaultSweepLimits)
	if err != nil {
		return nil, err
	}
	turns.end()
	var result *moderatov1.PreviewSweepResponse
	idempotency.Result(ctx, &result)
	err = change.ApplyLong(ctx, s.Store, q.channelID, func(ctx context.Context, c *change.Change) error {
		token := rand.Text()
		expiresAt := c.Now.Add(sweepTokenLifetime)
		result = &moderatov1.PreviewSweepResponse{
			SweepToken: token, ExpiresAt: expiresAt.Proto(), Matched: int32(len(found.matched)), Exempted: &found.exempted, Sample: found.sample,
		}
		return storeSweep(ctx, c, digest.Of(token), q, expiresAt, found.matched)
	})
	return result, err
}

// storeSweep stores a preview and the users whom it found, and displaces older previews.
func storeSweep(ctx context.Context, c *change.Change, id digest.SHA256, q *conditions, expiresAt instant.Instant, matched []uid.ID) error {
	err := c.Tx.Sweep.Create().SetID(id).SetChannelID(c.ChannelID).SetUserID(c.ActorID).SetPhrase(q.phrase).SetPattern(q.pattern).
		SetExemptFollowAge(q.exemptFollowAge.Milliseconds()).SetExemptSubscribers(q.exemptSubscribers).
		SetExpiresAt(expiresAt).SetRemoveAt(expiresAt.Add(sweepKept)).
		Exec(ctx)
	if err != nil || len(matched) == 0 {
		return err
	}
	if err := displacePreviews(ctx, c); err != nil {
		return err
	}
	var chunks []*ent.SweepChunkCreate
	for some := range slices.Chunk(matched, sweepTransaction) {
		chunks = append(chunks, c.Tx.SweepChunk.Create().SetID(uid.New()).SetSweepID(id).SetChannelID(c.ChannelID).
			SetNumber(len(chunks)).SetUserIds(joinIDs(some)))
	}
	for some := range slices.Chunk(chunks, chunksPerStatement) {
		if err := c.Tx.SweepChunk.CreateBulk(some...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// joinIDs returns the ids as the column user_ids holds them.
func joinIDs(ids []uid.ID) []byte {
	joined := make([]byte, 0, len(ids)*len(uid.ID{}))
	for _, id := range ids {
		joined = append(joined, id[:]...)
	}
	return joined
}

// splitIDs is the inverse of joinIDs.
func splitIDs(joined []byte) []uid.ID {
	var ids []uid.ID
	for id := range slices.Chunk(joined, len(uid.ID{})) {
		ids = append(ids, uid.ID(id))
	}
	return ids
}
