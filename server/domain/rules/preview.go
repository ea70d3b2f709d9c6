package rules

import (
	"bytes"
	"context"
	"slices"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/listing"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

const (
	// maxPreviewed is how many stored messages a preview looks at, and previewTime how long it may
	// take.
	maxPreviewed = 200_000
	previewTime  = 10 * time.Second
	// previewPage is how many messages one statement reads, and previewUsers how many users.
	previewPage  = 5000
	previewUsers = 500
)

// PreviewChatRules returns what the rules of a channel would do if a request changed them.
func (s *Service) PreviewChatRules(ctx context.Context, req *moderatov1.PreviewChatRulesRequest) (*moderatov1.PreviewChatRulesResponse, error) {
	f := validate.Of(req)
	channelID := f.UUID("channelId", req.GetChannelId())
	given := parseRuleChanges(f, req)
	texts := parseTexts(f, req)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if err := listing.AuthorizeModerator(ctx, s.Store, channelID); err != nil {
		return nil, err
	}
	var p *preview
	tooLarge := apierr.New(moderatov1.Reason_REASON_PREVIEW_TOO_LARGE)
	err := s.Turns.Examine(ctx, previewTime, tooLarge, func(ctx context.Context, yield func(context.Context) error) (err error) {
		if p, err = s.newPreview(ctx, channelID, given); err != nil {
			return err
		}
		if req.WithinSeconds == nil {
			return p.examineTexts(texts)
		}
		p.since = p.now.Add(-time.Duration(req.GetWithinSeconds()) * time.Second)
		n, err := chat.CountAfter(ctx, s.Store, channelID, p.since-1, maxPreviewed+1)
		switch {
		case err != nil:
			return err
		case n > maxPreviewed:
			return tooLarge
		}
		return p.examineStored(ctx, yield)
	})
	if err != nil {
		return nil, err
	}
	return p.result, nil
}

// parseTexts validates what a preview looks at, and returns its texts.
func parseTexts(f *validate.Fields, req *moderatov1.PreviewChatRulesRequest) []string {
	switch hasTexts := len(req.GetTexts()) > 0; {
	case hasTexts && req.WithinSeconds != nil:
		f.Exclude("withinSeconds", "texts")
	case !hasTexts && req.WithinSeconds == nil:
		f.Add("withinSeconds", "is required, or texts instead")
	case !hasTexts:
		f.Number("withinSeconds", req.GetWithinSeconds())
	}
	if !f.AtMost("texts", len(req.GetTexts())) {
		return nil
	}
	texts := make([]string, len(req.GetTexts()))
	for i, text := range req.GetTexts() {
		post := validate.Of(&moderatov1.PostMessageRequest{})
		texts[i] = post.Message("message", text)
		if err := post.Err(); err != nil {
			f.Add(fieldOf("texts", i), apierr.Of(err).Violations[0].Description)
		}
	}
	return texts
}

// preview is a preview of rules.
type preview struct {
	service   *Service
	channelID uid.ID
	now       instant.Instant
	since     instant.Instant
	rules     *compiled
	isNew     map[uid.ID]bool // the rules that the request would create
	users     map[uid.ID]*previewed
	matched   []*previewed // of users, those of whom messages match
	recent    []previewedMessage
	result    *moderatov1.PreviewChatRulesResponse
}

// previewed is a sender of messages.
type previewed struct {
	id       uid.ID
	standing *chat.Standing    // nil if the user was deleted
	byRule   [2]uint64         // bits of the rules that messages match
	latest   *previewedMessage // that matches; nil if none does
}

// newPreview compiles the rules of a channel as a request would change them.
func (s *Service) newPreview(ctx context.Context, channelID uid.ID, given *ruleChanges) (*preview, error) {
	d, err := s.draft(ctx, channelID, given.in)
	if err == nil {
		err = d.checkLimits()
	}
	if err != nil {
		return nil, err
	}
	p := &preview{service: s, channelID: channelID, now: d.now, isNew: map[uid.ID]bool{}, users: map[uid.ID]*previewed{}, result: &moderatov1.PreviewChatRulesResponse{}}
	for _, r := range d.after {
		p.isNew[r.id] = true
	}
	for _, r := range d.rules {
		delete(p.isNew, r.id)
	}
	inForce := slices.DeleteFunc(d.after, func(r storedRule) bool { return isExpired(r.rule, d.now) })
	if p.rules, err = compileRules(chat.RulesVersion{}, channelID, inForce, nil); err != nil {
		return nil, err
	}
	for i := range p.rules.rules {
		r := &p.rules.rules[i]
		p.result.ByRule = append(p.result.ByRule, &moderatov1.RulePreview{RuleId: p.idOf(r), Name: r.name, Action: r.action})
	}
	return p, nil
}

// idOf returns the id of a rule; nil if the request would create it.
func (p *preview) idOf(r *rule) *string {
	if p.isNew[r.id] {
		return nil
	}
	return new(r.id.String())
}

// hits returns the rules whose terms, patterns and so on a text matches.
func (p *preview) hits(text string) []match.Hit {
	t := textmatch.NewText(text)
	defer t.Release()
	return p.rules.set.Match(t)
}

// examineTexts looks at texts of one user.
func (p *preview) examineTexts(texts []string) error {
	of := &previewed{id: uid.New(), standing: &chat.Standing{Now: p.now}}
	for _, text := range texts {
		hits := p.decide(of, text, p.now, p.hits(text))
		if len(hits) > 0 {
			p.result.Sample = append(p.result.Sample, p.shown(findingOf(p.rules, hits), text))
		}
	}
	for _, r := range p.result.GetByRule() {
		r.Users = 0
	}
	return nil
}

// decide counts a message of a sender, and returns the rules that it matches and that apply to the
// sender.
func (p *preview) decide(of *previewed, text string, at instant.Instant, found []match.Hit) []match.Hit {
	p.result.Examined++
	st := of.standing
	if st == nil || of.id == p.channelID || st.IsModerator {
		return nil
	}
	applies := func(r *rule) bool { return !r.exempts(st) }
	hits := slices.DeleteFunc(found, func(h match.Hit) bool { return !applies(&p.rules.rules[h.Rule]) })
	if p.rules.hasMemory {
		hits = append(hits, p.rules.repeated(text, of.id, at, applies)...)
	}
	if len(hits) > 0 {
		p.result.Matched++
	}
	for _, h := range hits {
		row := p.result.GetByRule()[h.Rule]
		row.Matched++
		if bit := uint64(1) << (h.Rule % 64); of.byRule[h.Rule/64]&bit == 0 {
			of.byRule[h.Rule/64] |= bit
			row.Users++
		}
	}
	return hits
}

// examineStored looks at the stored messages, oldest first.
func (p *preview) examineStored(ctx context.Context, yield func(context.Context) error) error {
	after := chat.Place{SentAt: p.since - 1, ID: uid.ID(bytes.Repeat([]byte{0xff}, len(uid.ID{})))}
	for {
		page, err := chat.Examine(ctx, p.service.Store, p.channelID, after, previewPage)
		if err != nil {
			return err
		}
		if err := p.examinePage(ctx, page, yield); err != nil {
			return err
		}
		if len(page) < previewPage || p.result.GetExamined() >= maxPreviewed {
			break
		}
		last := page[len(page)-1]
		after = chat.Place{SentAt: last.SentAt, ID: last.ID}
	}
	p.result.Users = int32(len(p.matched)) //nolint:gosec // at most maxPreviewed
	if err := p.judge(ctx, yield); err != nil {
		return err
	}
	return p.addSample(ctx)
}

func (p *preview) examinePage(ctx context.Context, page []chat.Examined, yield func(context.Context) error) error {
	found := make([][]match.Hit, len(page))
	unknown := map[uid.ID]bool{}
	for i, m := range page {
		if err := yield(ctx); err != nil {
			return err
		}
		found[i] = p.hits(m.Text)
		if (len(found[i]) > 0 || p.rules.hasMemory) && p.users[m.UserID] == nil {
			unknown[m.UserID] = true
		}
	}
	if err := p.readUsers(ctx, unknown, yield); err != nil {
		return err
	}
	for i, m := range page {
		of := p.users[m.UserID]
		if of == nil {
			p.result.Examined++
			continue
		}
		if hits := p.decide(of, m.Text, m.SentAt, found[i]); len(hits) > 0 {
			p.note(of, m.Message, hits)
		}
	}
	return nil
}
