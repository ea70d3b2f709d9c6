package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// TestEveryFieldHasItsKind compares the fields of a rule with kindFields: those after the message
// belong to some kind.
func TestEveryFieldHasItsKind(t *testing.T) {
	fields := (*moderatov1.ChatRule)(nil).ProtoReflect().Descriptor().Fields()
	last := fields.ByJSONName("message").Number()
	for i := range fields.Len() {
		name, isOfKind := fields.Get(i).JSONName(), false
		for _, of := range kindFields {
			isOfKind = isOfKind || slices.Contains(of, name)
		}
		if isOfKind != (fields.Get(i).Number() > last) {
			t.Errorf("%s is of a kind: %t", name, isOfKind)
		}
	}
}

// TestEverythingWrongIsReported parses rules with several mistakes: each field is reported once.
func TestEverythingWrongIsReported(t *testing.T) {
	good := func(of *moderatov1.ChatRule) *moderatov1.ChatRule {
		of.Name, of.Action = "a", "block"
		return of
	}
	var many []*moderatov1.ChatRule
	for range 100 {
		many = append(many, good(&moderatov1.ChatRule{Kind: "terms", Terms: make([]string, 1000)}))
	}
	for _, c := range []struct {
		name  string
		rules []*moderatov1.ChatRule
		want  string
	}{
		{"an unknown kind", []*moderatov1.ChatRule{good(&moderatov1.ChatRule{Kind: "words", Strikes: 1})}, "put[0].kind put[0].strikes"},
		{"fields of all rules and of their kinds", []*moderatov1.ChatRule{
			{Kind: "terms", Action: "block", Terms: []string{"", "a"}},
			good(&moderatov1.ChatRule{Kind: "pattern", Patterns: []string{"a", "("}, Max: new(int32(1))}),
			{Name: "a", Kind: "mentions", Action: "mute"},
		}, "put[0].name put[0].terms[0] put[1].max put[1].patterns[1] put[2].muteSeconds put[2].max"},
		{"numbers that the contract bounds", []*moderatov1.ChatRule{
			good(&moderatov1.ChatRule{Kind: "mentions", Max: new(int32(51))}),
			good(&moderatov1.ChatRule{Kind: "links", Mode: new("some")}),
			good(&moderatov1.ChatRule{Kind: "repetition", Senders: new(int32(1)), WithinSeconds: new(int32(0))}),
		}, "put[0].max put[1].mode put[2].senders put[2].withinSeconds"},
	} {
		f := validate.Of(&moderatov1.UpdateChatRulesRequest{})
		parseRules(f, "put", c.rules)
		var got []string
		for _, v := range apierr.Of(f.Err()).Violations {
			got = append(got, v.Field)
		}
		if slices.Sort(got); strings.Join(got, " ") != strings.Join(slices.Sorted(slices.Values(strings.Fields(c.want))), " ") {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	f := validate.Of(&moderatov1.UpdateChatRulesRequest{})
	parseRules(f, "put", many)
	if got := len(apierr.Of(f.Err()).Violations); got != apierr.MaxViolations {
		t.Errorf("100,000 mistakes: got %d violations", got)
	}
}

// TestListsAreTrimmed parses lists with white space around their texts, which count without it. That
// of patterns belongs to them.
func TestListsAreTrimmed(t *testing.T) {
	long := strings.Repeat("x", 100)
	of := []*moderatov1.ChatRule{
		{Name: "a", Kind: "terms", Action: "block", Terms: []string{" gems\n", "GEMS", "\u2003" + long + "\t", "cafe\u0301"}, Allow: []string{" free gems "}},
		{Name: "a", Kind: "links", Action: "block", Mode: new("listed"), AllowDomains: []string{" example.com "}, BlockDomains: []string{"example.org\n"}},
		{Name: "a", Kind: "pattern", Action: "block", Patterns: []string{" gems "}},
	}
	f := validate.Of(&moderatov1.UpdateChatRulesRequest{})
	parseRules(f, "put", of)
	got := fmt.Sprintf("%q", slices.Concat(of[0].GetTerms(), of[0].GetAllow(), of[1].GetAllowDomains(), of[1].GetBlockDomains(), of[2].GetPatterns()))
	want := fmt.Sprintf("%q", []string{"gems", "GEMS", long, "caf\u00e9", "free gems", "example.com", "example.org", " gems "})
	if f.Err() != nil || got != want {
		t.Errorf("got %s and %v, want %s", got, f.Err(), want)
	}
}

// TestErrorsOfLimits checks rules that are too many or too costly together. The request has those that
// are named "given".
func TestErrorsOfLimits(t *testing.T) {
	terms := func(n, length int) *moderatov1.ChatRule {
		return &moderatov1.ChatRule{Name: "other", Kind: "terms", Terms: slices.Repeat([]string{strings.Repeat("x", length)}, n)}
	}
	costly := func(name string, lengths ...int) *moderatov1.ChatRule {
		r := &moderatov1.ChatRule{Name: name, Kind: "pattern"}
		for _, n := range lengths {
			r.Patterns = append(r.Patterns, strings.Repeat("[ab]", n))
		}
		return r
	}
	nested := &moderatov1.ChatRule{Name: "given", Kind: "terms"}
	for n := range 250 {
		nested.Terms = append(nested.Terms, "*"+strings.Repeat("a", n%98+1)+"*")
	}
	for _, c := range []struct {
		rules []*moderatov1.ChatRule
		want  string
	}{
		{slices.Repeat([]*moderatov1.ChatRule{terms(1, 1)}, 100), ""},
		{slices.Repeat([]*moderatov1.ChatRule{terms(1, 1)}, 101), "RULE_LIMIT_REACHED rules: A channel has at most 100 rules, including those of its shield."},
		{slices.Repeat([]*moderatov1.ChatRule{terms(999, 1)}, 11), "RULE_LIMIT_REACHED terms: The rules of a channel have at most 10000 terms, including those of its shield."},
		{slices.Repeat([]*moderatov1.ChatRule{terms(600, 100)}, 9), "RULE_LIMIT_REACHED text: The rules of a channel have at most 512 KiB of text, including those of its shield."},
		{[]*moderatov1.ChatRule{costly("other", 10), costly("given", 1, 120)}, "RULES_TOO_COSTLY put[1].patterns[1]: put[1].patterns[1] takes the most steps"},
		{[]*moderatov1.ChatRule{costly("given", 40, 40), nested}, "RULES_TOO_COSTLY put[1]: put[1] takes the most steps"},
		{[]*moderatov1.ChatRule{costly("other", 80), costly("given", 70)}, `RULES_TOO_COSTLY : The rule "other" (0) takes the most steps`},
	} {
		in := places{}
		for i, r := range c.rules {
			if r.RuleId = fmt.Sprint(i); r.GetName() == "given" {
				in[r.GetRuleId()] = fieldOf("put", i)
			}
		}
		got := ""
		if err := checkLimits(c.rules, in); err != nil {
			e := apierr.Of(err)
			got = apierr.Code(e.Reason) + " " + e.Metadata[apierr.Limit]
			for _, v := range e.Violations {
				got += v.Field
			}
			got += ": " + e.Text()
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
