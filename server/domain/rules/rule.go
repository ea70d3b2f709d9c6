package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/rules/match"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// Defaults of fields that a request leaves out.
const (
	defaultMinLength = 10
	defaultPercent   = 70
)

// kindFields are the fields of each kind of rule. The fields of no kind belong to all.
var kindFields = map[string][]string{
	"terms":      {"terms", "allow", "evasions"},
	"pattern":    {"patterns"},
	"links":      {"mode", "allowDomains", "blockDomains"},
	"caps":       {"minLength", "percent"},
	"symbols":    {"minLength", "percent", "maxMarks"},
	"repetition": {"sameSender", "senders", "withinSeconds"},
	"mentions":   {"max"},
}

// belongsTo reports whether rules of a kind have a field.
func belongsTo(kind, field string) bool {
	if slices.Contains(kindFields[kind], field) {
		return true
	}
	for _, fields := range kindFields {
		if slices.Contains(fields, field) {
			return false
		}
	}
	return true
}

// parseRules validates the rules of a request, and completes them with the defaults. path is the
// name of their list.
func parseRules(f *validate.Fields, path string, all []*moderatov1.ChatRule) {
	if !f.AtMost(path, len(all)) {
		return
	}
	for i, r := range all {
		e := f.Element(path, i, r)
		parseRule(e, r)
		for _, v := range match.Check(matchRule(r)) {
			e.Add(v.Field, v.Description)
		}
		f.Include(e)
	}
}

// fieldOf is the path of an element of a list, and place that of a field of one.
func fieldOf(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

func place(list string, i int, field string) string { return fieldOf(list, i) + "." + field }

// parseRoles validates the roles that are exempt.
func parseRoles(f *validate.Fields, roles []string) {
	if !f.AtMost("exemptRoles", len(roles)) {
		return
	}
	for i, role := range roles {
		if f.ChoiceOf("exemptRoles", i, role) != "" && slices.Contains(roles[:i], role) {
			f.Add(fieldOf("exemptRoles", i), "is given twice")
		}
	}
}

func parseRule(f *validate.Fields, r *moderatov1.ChatRule) {
	f.OptionalUUID("ruleId", r.GetRuleId())
	r.Name = f.Text("name", r.GetName())
	f.Choice("kind", r.GetKind())
	f.Choice("action", r.GetAction())
	parseNumbers(f, r)
	switch isMute := r.GetAction() == "mute"; {
	case isMute && r.MuteSeconds == nil:
		f.Add("muteSeconds", "is required with the action mute")
	case !isMute && r.MuteSeconds != nil:
		f.Add("muteSeconds", "must be null unless the action is mute")
	}
	if r.GetStrikes() != 0 {
		f.Add("strikes", "must be 0")
	}
	if at, isGiven := f.Time("expiresAt", r.GetExpiresAt()); isGiven {
		r.ExpiresAt = at.Proto() // to the millisecond
	}
	parseRoles(f, r.GetExemptRoles())
	if r.Message != nil {
		r.Message = new(f.GivenText("message", r.GetMessage()))
	}
	if r.Mode != nil {
		f.Choice("mode", r.GetMode())
	}
	for _, texts := range [][]string{r.GetTerms(), r.GetAllow(), r.GetAllowDomains(), r.GetBlockDomains()} {
		trim(texts)
	}
	checkKind(f, r)
	complete(r)
}

// trim removes white space around texts, as validate.Fields.Text does.
func trim(texts []string) {
	for i, text := range texts {
		texts[i] = norm.NFC.String(strings.TrimSpace(text))
	}
}

// parseNumbers validates all numbers that a rule or another message has.
func parseNumbers(f *validate.Fields, m proto.Message) {
	for field, value := range m.ProtoReflect().Range {
		if field.Kind() == protoreflect.Int32Kind && field.JSONName() != "strikes" { // which has no bounds
			f.Number(field.JSONName(), value.Int())
		}
	}
}

// checkKind refuses the fields of other kinds.
func checkKind(f *validate.Fields, r *moderatov1.ChatRule) {
	if kindFields[r.GetKind()] == nil {
		return
	}
	for field := range r.ProtoReflect().Range {
		if name := field.JSONName(); !belongsTo(r.GetKind(), name) {
			f.Add(name, "is not a field of "+r.GetKind()+" rules")
		}
	}
}

// complete sets the fields of a rule that have defaults.
func complete(r *moderatov1.ChatRule) {
	if r.Enabled == nil {
		r.Enabled = new(true)
	}
	switch r.GetKind() {
	case "terms":
		r.Evasions = new(r.GetEvasions())
	case "caps", "symbols":
		if r.MinLength == nil {
			r.MinLength = new(int32(defaultMinLength))
		}
		if r.Percent == nil {
			r.Percent = new(int32(defaultPercent))
		}
	}
}

// matchRule returns what a rule matches.
func matchRule(r *moderatov1.ChatRule) match.Rule {
	return match.Rule{
		Kind:  match.Kind(r.GetKind()),
		Terms: r.GetTerms(), Allow: r.GetAllow(), Evasions: r.GetEvasions(),
		Patterns: r.GetPatterns(),
		Mode:     match.Mode(r.GetMode()), Allowed: r.GetAllowDomains(), Blocked: r.GetBlockDomains(),
		MinLength: int(r.GetMinLength()), Percent: int(r.GetPercent()), MaxMarks: int(r.GetMaxMarks()),
		Max:        int(r.GetMax()),
		SameSender: int(r.GetSameSender()), Senders: int(r.GetSenders()), Within: time.Duration(r.GetWithinSeconds()) * time.Second,
	}
}

func matchRules(all []*moderatov1.ChatRule) []match.Rule {
	rules := make([]match.Rule, len(all))
	for i, r := range all {
		rules[i] = matchRule(r)
	}
	return rules
}

// limitTexts say how much a channel may have, and what to do if it has more.
var limitTexts = map[match.LimitError]string{
	match.ErrTooManyRules: fmt.Sprintf("A channel has at most %d rules, including those of its shield. Delete rules, or put the terms of several rules into one.", match.MaxRules),
	match.ErrTooManyTerms: fmt.Sprintf("The rules of a channel have at most %d terms, including those of its shield. Delete terms that are no longer needed.", match.MaxChannelTerms),
	match.ErrTooMuchText:  fmt.Sprintf("The rules of a channel have at most %d KiB of text, including those of its shield. Delete terms, patterns and domains that are no longer needed.", match.MaxChannelText>>10),
}

// places are the places in a request of the rules that it has, by the ids of the rules.
type places map[string]string

// checkLimits returns an error for the caller who changes rules if all rules of a channel, those of
// its shield included, are too many or too costly.
func checkLimits(all []*moderatov1.ChatRule, in places) error {
	err := match.CheckLimits(matchRules(all))
	var limit match.LimitError
	var costly *match.TooCostlyError
	switch {
	case errors.As(err, &limit):
		return &apierr.Error{
			Reason: moderatov1.Reason_REASON_RULE_LIMIT_REACHED, Message: limitTexts[limit], Metadata: map[string]string{apierr.Limit: string(limit)},
		}
	case errors.As(err, &costly):
		return &apierr.Error{
			Reason:     moderatov1.Reason_REASON_RULES_TOO_COSTLY,
			Violations: []apierr.Violation{in.violation(all[costly.Rule], costly.Field, "takes the most steps of rules that would take too long for each message; make it simpler, or delete rules")},
		}
	}
	if err != nil { // no error of the caller: the rules are checked one by one before
		err = fmt.Errorf("check the limits of the rules of a chat: %w", err)
	}
	return err
}

// violation describes a field of a rule, or a rule. If the request does not have the rule, the
// description names it.
func (p places) violation(r *moderatov1.ChatRule, field, description string) apierr.Violation {
	at, isGiven := p[r.GetRuleId()]
	switch {
	case !isGiven:
		description = fmt.Sprintf("the rule %q (%s) %s", r.GetName(), r.GetRuleId(), description)
	case field != "":
		at += "." + field
	}
	return apierr.Violation{Field: at, Description: description}
}
