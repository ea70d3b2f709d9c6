package rules

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/change"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
	"github.com/moderato-live/moderato/server/store"
)

// maxRuleChanges is how many rules one request changes at most.
const maxRuleChanges = 100

// UpdateChatRules creates, replaces and deletes rules of a channel.
func (s *Service) UpdateChatRules(ctx context.Context, req *moderatov1.UpdateChatRulesRequest) (*moderatov1.UpdateChatRulesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	f.Number("expectedVersion", req.GetExpectedVersion())
	given := parseRuleChanges(f, req)
	if n := len(req.GetPut()) + len(req.GetDelete()); n == 0 || n > maxRuleChanges {
		f.Add("put", fmt.Sprintf("must have 1 to %d rules, together with delete", maxRuleChanges))
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var result *moderatov1.UpdateChatRulesResponse
	idempotency.Result(ctx, &result)
	err := s.changeRules(ctx, channelID, req.ExpectedVersion, byModerator, given.in, func(after *ruleSet) {
		result = &moderatov1.UpdateChatRulesResponse{Version: after.rulesVersion, Rules: protos(after.rules)}
	})
	return result, err
}

// changeRules changes the rules of a channel, which may be expected to have a version. It calls done
// with the rules after the change, in the transaction.
func (s *Service) changeRules(ctx context.Context, channelID uid.ID, expected *int64, why cause, want wanted, done func(*ruleSet)) error {
	ahead, err := s.checkAhead(ctx, channelID, want)
	if err != nil {
		return err
	}
	return change.Apply(ctx, s.Store, channelID, func(ctx context.Context, c *change.Change) error {
		rules, err := readPresent(ctx, c)
		switch {
		case err != nil:
			return err
		case expected != nil && *expected != rules.rulesVersion:
			return apierr.VersionConflict(rules.rulesVersion)
		}
		rules.ahead = ahead
		changed, err := want(ctx, c.Tx, rules, c.Now)
		if err == nil {
			err = rules.change(ctx, c, changed, why)
		}
		if err == nil {
			done(rules)
		}
		return err
	})
}

// ruleChanges are the changes of rules that a request has.
type ruleChanges struct {
	put     []*moderatov1.ChatRule
	deleted []uid.ID
}

// parseRuleChanges validates changes of rules, without regard to the rules of the channel.
func parseRuleChanges(f *validate.Fields, req interface {
	GetPut() []*moderatov1.ChatRule
	GetDelete() []string
}) *ruleChanges {
	parseRules(f, "put", req.GetPut())
	given := &ruleChanges{put: req.GetPut()}
	if !f.AtMost("delete", len(req.GetDelete())) {
		return given
	}
	isNamed := map[uid.ID]bool{}
	name := func(path, id string) uid.ID {
		parsed, err := uid.Parse(id)
		if err == nil && isNamed[parsed] {
			f.Add(path, "is given twice")
		}
		isNamed[parsed] = true
		return parsed
	}
	for i, r := range req.GetPut() {
		if r.GetRuleId() != "" {
			name(place("put", i, "ruleId"), r.GetRuleId())
		}
	}
	for i, id := range req.GetDelete() {
		path := fieldOf("delete", i)
		f.UUID(path, id)
		given.deleted = append(given.deleted, name(path, id))
	}
	return given
}

// in returns what the changes make of the rules of a channel. It gives ids to new rules.
func (g *ruleChanges) in(_ context.Context, _ store.Queryer, rules *ruleSet, now instant.Instant) (changedRules, error) {
	f, want := &validate.Fields{}, changedRules{}
	present := map[uid.ID]bool{}
	for _, r := range rules.rules {
		present[r.id] = true
	}
	for i, r := range g.put {
		id, isNew := uid.New(), r.GetRuleId() == ""
		if !isNew {
			id = uid.MustParse(r.GetRuleId())
		}
		if !isNew && !present[id] {
			f.Add(place("put", i, "ruleId"), "must be the id of a rule of the channel; leave it out to create a rule")
		}
		if isExpired(r, now) {
			f.Add(place("put", i, "expiresAt"), "must be in the future")
		}
		rule := proto.CloneOf(r) // this may run again
		rule.RuleId = id.String()
		want[id], rules.places[rule.RuleId] = rule, fieldOf("put", i)
	}
	for i, id := range g.deleted {
		if !present[id] {
			f.Add(fieldOf("delete", i), "must be the id of a rule of the channel")
		}
		want[id] = nil
	}
	return want, f.Err()
}
