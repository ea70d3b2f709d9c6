package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/paging"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// keepVersions is how long versions are kept, and rules that no longer are those of a channel.
const keepVersions = 90 * 24 * time.Hour

// GetChatRules returns the rules of a channel, as they are or as they were in a version.
func (s *Service) GetChatRules(ctx context.Context, req *moderatov1.GetChatRulesRequest) (*moderatov1.GetChatRulesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	f.Number("version", req.GetVersion())
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	now, err := s.Store.Clock.Now(ctx, s.Store.Read)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	present, err := readSettings(ctx, s.Store.Read, channelID)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	version := present.rulesVersion
	if req.Version != nil {
		version = req.GetVersion()
	}
	all, err := readVersion(ctx, s.Store.Read, channelID, version, present.rulesVersion, now)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	return &moderatov1.GetChatRulesResponse{Version: version, Rules: protos(all)}, nil
}

// readVersion reads the rules that a channel has or had in a version. It returns
// VERSION_NOT_FOUND if there is none, or if the change that ended it is too long ago: then its rules
// are removed.
func readVersion(ctx context.Context, q store.Queryer, channelID uid.ID, version, present int64, now instant.Instant) ([]storedRule, error) {
	isKnown := version == 0 || version == present
	if !isKnown {
		err := store.QueryEach(ctx, q, "SELECT changed_at > ? FROM chat_rule_versions WHERE channel_id = ? AND version = ?",
			[]any{now.Add(-keepVersions), channelID, version + 1}, func(scan func(...any) error) error { return scan(&isKnown) })
		if err != nil {
			return nil, fmt.Errorf("read the end of a version of rules: %w", err)
		}
	}
	switch {
	case !isKnown:
		return nil, apierr.New(moderatov1.Reason_REASON_VERSION_NOT_FOUND)
	case version == 0:
		return nil, nil
	}
	return readRulesAt(ctx, q, channelID, version)
}

// RestoreChatRules makes the rules of a channel what they were in a version.
func (s *Service) RestoreChatRules(ctx context.Context, req *moderatov1.RestoreChatRulesRequest) (*moderatov1.RestoreChatRulesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	if req.Version == nil {
		f.Add("version", "is required")
	}
	f.Number("version", req.GetVersion())
	f.Number("expectedVersion", req.GetExpectedVersion())
	if err := f.Err(); err != nil {
		return nil, err
	}
	want := func(ctx context.Context, q store.Queryer, rules *ruleSet, now instant.Instant) (changedRules, error) {
		former, err := readVersion(ctx, q, channelID, req.GetVersion(), rules.rulesVersion, now)
		want := changedRules{}
		for _, r := range rules.rules {
			want[r.id] = nil
		}
		want.putBack(former, now)
		return want, err
	}
	var result *moderatov1.RestoreChatRulesResponse
	idempotency.Result(ctx, &result)
	err := s.changeRules(ctx, channelID, req.ExpectedVersion, byRestore, want, func(after *ruleSet) {
		result = &moderatov1.RestoreChatRulesResponse{Version: after.rulesVersion, Rules: protos(after.rules)}
	})
	return result, err
}

// putBack makes rules what they were, except those that have expired since.
func (want changedRules) putBack(former []storedRule, now instant.Instant) {
	for _, r := range former {
		if !isExpired(r.rule, now) {
			want[r.id] = r.rule
		}
	}
}

// ListChatRuleVersions returns a page of the versions of the rules of a channel, newest first.
func (s *Service) ListChatRuleVersions(ctx context.Context, req *moderatov1.ListChatRuleVersionsRequest) (*moderatov1.ListChatRuleVersionsResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	q := versionsQuery{channelID: channelID, before: math.MaxInt64, limit: f.Limit("limit", req.Limit) + 1}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	list := "ListChatRuleVersions/" + channelID.String()
	if err := paging.Read(ctx, s.Store, list, req.GetCursor(), &q.before); err != nil {
		return nil, err
	}
	rows, err := s.readVersions(ctx, q)
	if err != nil {
		return nil, s.Store.Classify(err)
	}
	result := &moderatov1.ListChatRuleVersionsResponse{}
	result.Rows, result.Pagination, err = paging.Cut(ctx, s.Store, list, rows, q.limit-1, func(v *moderatov1.ChatRuleVersion) any { return v.GetVersion() })
	return result, err
}

// versionsQuery holds the parameters of versionsPage.
type versionsQuery struct {
	channelID uid.ID
	before    int64
	limit     int
}

// versionsPage selects versions of the rules of a channel, the newest first, of which the time has
// not passed for which they are kept.
var versionsPage = store.Declare(func(d *store.Dialect, q versionsQuery) (string, []any) {
	from, end := d.Page(store.Page{
		Table: "chat_rule_versions", By: d.ByIndex("chatruleversion_channel_id_version"),
		Where: fmt.Sprintf("chat_rule_versions.channel_id = ? AND chat_rule_versions.version < ? AND chat_rule_versions.changed_at > %s - %d", d.Clock.Present(), keepVersions.Milliseconds()),
		Order: "chat_rule_versions.version DESC", Limit: q.limit,
	})
	return `
		SELECT chat_rule_versions.version, chat_rule_versions.client_id, chat_rule_versions.cause, chat_rule_versions.changed_at, chat_rule_versions.changes,
			` + users.PersonColumns("u") + `
		FROM ` + from + ` LEFT JOIN users u ON u.id = chat_rule_versions.moderator_id` + end, []any{q.channelID, q.before}
})

func (s *Service) readVersions(ctx context.Context, q versionsQuery) (rows []*moderatov1.ChatRuleVersion, err error) {
	err = versionsPage.Each(ctx, s.Store, q, func(r *store.Row) error {
		v := &moderatov1.ChatRuleVersion{Version: r.Int(), ClientId: r.Text(), Cause: r.Text(), ChangedAt: r.Instant().Proto()}
		var changed ids
		if err := json.Unmarshal([]byte(r.Text()), &changed); err != nil {
			return fmt.Errorf("read the version %d of rules: %w", v.GetVersion(), err)
		}
		v.Put, v.Deleted = changed.Put, changed.Deleted
		v.Moderator = users.ReadPerson(r)
		rows = append(rows, v)
		return nil
	})
	return rows, err
}
