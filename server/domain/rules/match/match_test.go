package match_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/textmatch"
	"github.com/moderato-live/moderato/server/domain/rules/match"
)

// compiled compiles rules.
func compiled(t testing.TB, rules ...match.Rule) *match.Set {
	t.Helper()
	s, err := match.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// matchText returns the parts of a text that some rules match, such as "0:free gems" for the first.
func matchText(s *match.Set, text string) string {
	folded := textmatch.NewText(text)
	defer folded.Release()
	var hits []string
	for _, h := range s.Match(folded) {
		var parts []string
		for _, span := range h.Spans {
			parts = append(parts, string([]rune(text)[span.Start:span.End]))
		}
		hits = append(hits, fmt.Sprintf("%d:%s", h.Rule, strings.Join(parts, ",")))
	}
	return strings.Join(hits, " ")
}

// example is a rule, a text and what matchText returns.
type example struct {
	rule       match.Rule
	text, want string
}

func check(t *testing.T, examples []example) {
	t.Helper()
	for _, e := range examples {
		if got := matchText(compiled(t, e.rule), e.text); got != e.want {
			t.Errorf("%q: got %q, want %q (%+v)", e.text, got, e.want, e.rule)
		}
	}
}

func phrases(terms ...string) match.Rule { return match.Rule{Kind: match.Terms, Terms: terms} }

func evaded(terms ...string) match.Rule {
	return match.Rule{Kind: match.Terms, Terms: terms, Evasions: true}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{phrases("free gems"), "get FREE gems, free_gems", "0:FREE gems,free_gems"},
		{phrases("free gems"), "**free** gems", "0:free** gems"},
		{phrases("free gems"), "so ｆre\u0301е\u200b ģems!", "0:ｆre\u0301е\u200b ģems"},
		{phrases("free gems"), "freegems", ""},
		{phrases("sub*", "*bot*"), "a subscriber robots", "0:sub,bot"},
		{phrases("c++", "$$$ now"), "i use c++ and $$$ now", "0:c++,$$$ now"},
		{phrases("salt & pepper"), "salt && pepper", "0:salt && pepper"},
		{phrases("免费"), "很免费吗", "0:免费"},
		{phrases("νίκη"), "ΝΊΚΗ Νίκη", "0:ΝΊΚΗ,Νίκη"},
		{phrases("lol"), "room 101 at 10:01, l0l", "0:l0l"},
		{phrases("money"), "rnoney", "0:rnoney"},
		{phrases("corn"), "com, c0rn", "0:c0rn"},
		{match.Rule{Kind: match.Terms, Terms: []string{"ass"}, Allow: []string{"kick ass"}}, "ass, kick ass!", "0:ass"},
		{match.Rule{Kind: match.Terms, Terms: []string{"ass"}, Allow: []string{"kick ass"}}, "kick-ass", ""},
	})
}

func TestEvasions(t *testing.T) {
	t.Parallel()
	for term, texts := range map[string]string{
		"free": "f.r.e.e|f r e e|fr33|freeee|ffffree|f-r-3-e|**f**ree|~~f~~ree|F R E E E E|f\u00a0r\u00a0e\u00a0e|(f)(r)(e)(e)|f_r_e_e|fr€€",
		"free gems": "fr33 g3m5|f r e e  g e m s|free-gemmms|f.r.e.e g.e.m.s|free g3ms|F.R.E.E. G.E.M.S." +
			"|f.r.e.e gems|f r e e gems|f-r-e-e gems|f,r,e,e gems|f/r/e/e gems|f*r*e*e g.e.m.s|free g.e.m.s|free g-e-m-s|fr33 g.e.m.s|f.r.e.e. gems!|f.r.e.e.gemmms",
		"buy free gems": "buy f.r.e.e gems|b.u.y free gems|b u y free g e m s|buy free g.e.m.s",
		"ass":           "@ss|a$$|@$$|as5|a.s.s|asssss|a s s",
		"shit":          "sh!t|$h1t|5h1t|s.h.i.t|s-h-i-t|shiiiit",
		"free eggs":     "fr33 egg5|free eggggs|f.r.e.e.e.g.g.s|f.r.e.e eggs|free e.g.g.s|free eggs",
		"ass sucks":     "a.s.s sucks|ass s.u.c.k.s|a.s.s s.u.c.k.s",
		"free eel":      "f.r.e.e eel|free e.e.l",
		"привет":        "п р и в е т|п.р.и.в.е.т|привееет",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			if got := matchText(compiled(t, evaded(term)), "so, "+text+" ok"); got == "" {
				t.Errorf("%q is not found in %q", term, text)
			}
		}
	}
	for term, texts := range map[string]string{
		"free":      "of ree|f ree|fre|frree|freed|f. ree|three",
		"free gems": "fr.ee gems|f.ree gems|f.r.ee gems|f.r.e.e ge.ms|f.r.e.egems|of r.e.e gems|f.r.e.e g.e.m",
		"ass":       "p@ss|a$$hole|A55|455|as s|a ss|class|glass 5|ass5a|$4.55|4:55|as. So|pass it",
		"sam":       "5am|at 5am",
		"lol":       "101|10:01|1.0.1",
		"sss":       "$$$",
		"leet":      "1337",
		"tits":      "t.co/its|7175",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			if got := matchText(compiled(t, evaded(term)), text); got != "" {
				t.Errorf("%q is found in %q: %s", term, text, got)
			}
		}
	}
	check(t, []example{
		{phrases("free"), "f.r.e.e fr33 freeee", ""},
		{evaded("free"), "so f.r.\u200be.é ok", "0:f.r.\u200be.é"},
		{evaded("free gems"), "get f.r.\u200be.é. ｇems! now", "0:f.r.\u200be.é. ｇems"},
		{evaded("1337"), "1337 leet", "0:1337"},
		{match.Rule{Kind: match.Terms, Terms: []string{"ass"}, Evasions: true, Allow: []string{"a s s club"}}, "a s s club", ""},
	})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	check(t, []example{
		{match.Rule{Kind: match.Pattern, Patterns: []string{`free\s+subs?\b`, `x{3}`}}, "FREE  ѕubs and xxx", "0:FREE  ѕubs,xxx"},
		{match.Rule{Kind: match.Pattern, Patterns: []string{`[а-я]{3}`}}, "так", "0:так"},
		{match.Rule{Kind: match.Pattern, Patterns: []string{`\d{3}`}}, "12", ""},
	})
}

func TestLinks(t *testing.T) {
	t.Parallel()
	all := match.Rule{Kind: match.Links, Mode: match.AllLinks}
	for text, want := range map[string]string{
		"see example.com/x?y=z now":              "0:example.com",
		"HTTPS://Example.ORG:8080/a":             "0:HTTPS://Example.ORG:8080",
		"www.foo":                                "0:www.foo",
		"ftp://localhost":                        "0:ftp://localhost",
		"a.test b.example c.invalid d.localhost": "0:a.test,b.example,c.invalid,d.localhost",
		"example dot com, example[dot]com":       "0:example dot com,example[dot]com",
		"example (.) co.uk":                      "0:example (.) co.uk",
		"ex%61mple%2ecom":                        "0:ex%61mple%2ecom",
		"ex%2561mple%252ecom":                    "0:ex%2561mple%252ecom",
		"пример.рф and xn--e1afmkfd.xn--p1ai":    "0:пример.рф,xn--e1afmkfd.xn--p1ai",
		"ｅｘａｍｐｌｅ．ｃｏｍ":                            "0:ｅｘａｍｐｌｅ．ｃｏｍ",
		"例子。中国":                                  "0:例子。中国",
		"exam\u200bple.com":                      "0:exam\u200bple.com",
		"http://good.com/?u=http://evil.com/a.b": "0:http://good.com,http://evil.com",
		"1.5 e.g. ok...so v1.2.3 node.js a.b":    "",
		"the dot is red, a dot in it":            "",
		"file:///etc":                            "0:file://",
		"no.comment here, end.Then":              "",
	} {
		check(t, []example{{all, text, want}})
	}
	listed := match.Rule{Kind: match.Links, Mode: match.ListedLinks, Blocked: []string{"Evil.com", "bücher.de"}, Allowed: []string{"ok.evil.com"}}
	allowing := match.Rule{Kind: match.Links, Mode: match.AllLinks, Allowed: []string{"good.com"}}
	check(t, []example{
		{listed, "evil.com", "0:evil.com"},
		{listed, "a.b.evil.com", "0:a.b.evil.com"},
		{listed, "ok.evil.com and x.ok.evil.com", ""},
		{listed, "notevil.com evil.com.org", ""},
		{listed, "еvіl.com", "0:еvіl.com"},
		{listed, "evil.corn ev1l.com", "0:ev1l.com"},
		{listed, "xn--vl-mlc0e.com", ""},
		{listed, "https://xn--bcher-kva.de", "0:https://xn--bcher-kva.de"},
		{listed, "http://good.com@evil.com/", "0:http://good.com@evil.com"},
		{listed, "http://evil.com\\@good.com/", "0:http://evil.com"},
		{listed, "evil dot com", "0:evil dot com"},
		{listed, "http://ev%69l.com", "0:http://ev%69l.com"},
		{listed, "bücher dot de, evil.com dot net", "0:bücher dot de,evil.com"},
		{listed, "the dot de facto, my books dot de", ""},
		{listed, "http://b%C3%BCcher.de b%c3%9ccher.de", "0:http://b%C3%BCcher.de,b%c3%9ccher.de"},
		{listed, "http://%EF%BD%85vil%E3%80%82com/ ev%E2%80%8Bil.com", "0:http://%EF%BD%85vil%E3%80%82com,ev%E2%80%8Bil.com"},
		{listed, "%c3%28 %ff evil.com", "0:evil.com"},
		{match.Rule{Kind: match.Links, Mode: match.ListedLinks, Blocked: []string{"evil.co.uk"}}, "x evil dot co dot uk", "0:evil dot co dot uk"},
		{allowing, "good.com www.good.com/x", ""},
		{allowing, "gооd.com", "0:gооd.com"},
		{allowing, "http://good.com@evil.com", "0:http://good.com@evil.com"},
	})
}

func TestLettersAndMentions(t *testing.T) {
	t.Parallel()
	caps := match.Rule{Kind: match.Caps, MinLength: 10, Percent: 70}
	symbols := match.Rule{Kind: match.Symbols, MinLength: 5, Percent: 50, MaxMarks: 3}
	check(t, []example{
		{caps, "THIS IS LOUD", "0:"}, {caps, "LOUD", ""}, {caps, "this IS not loud", ""}, {caps, "今日の配信も最高でした！また", ""},
		{caps, "ТАК ГРОМКО!!", "0:"}, {caps, "𝐀𝐁𝐂𝐃𝐄𝐅𝐆𝐇𝐈𝐉", "0:"}, {caps, "[emote:0190163D-8694-739B-AEA5-966C26F8AD90]", ""},
		{symbols, "#$%^&*", "0:"}, {symbols, "#$%^&*abcdefgh", ""}, {symbols, "😂😂😂😂😂😂😂", ""}, {symbols, "e\u0301\u0301\u0301\u0301", "0:"}, {symbols, "हिन्दी में", ""},
		{match.Rule{Kind: match.Mentions, Max: 2}, "@a @b ＠c @c a@d.com", "0:＠c,@c"},
		{match.Rule{Kind: match.Mentions, Max: 2}, "@a @b @A @B", ""},
		{match.Rule{Kind: match.Mentions, Max: 2}, "@team.anna @team.bob @team-cy", "0:@team-cy"},
		{match.Rule{Kind: match.Mentions, Max: 1}, "@anna. @anna- @ANNA... @anna", ""},
		{match.Rule{Kind: match.Mentions, Max: 1}, "hi @anna.@bob!", "0:@bob"},
		{symbols, "★★★★★★★★★★", "0:"}, {symbols, "☀☀☀☀☀", "0:"}, {symbols, "☀\ufe0f☀\ufe0f☀\ufe0f☀\ufe0f☀\ufe0f", ""}, {symbols, "⚡⚡⚡⚡⚡✨", ""},
		{symbols, "👩\u200d👩\u200d👧 👍🏽 🇩🇪 ok", ""}, {symbols, "🄰🄱🄲🄳🄴", "0:"},
		{symbols, "a" + strings.Repeat("\u0301\u200d", 4), "0:"}, {symbols, "a" + strings.Repeat("\u0301\ufe0f", 4), "0:"}, {symbols, strings.Repeat("e\u0301", 20), ""},
	})
}

func TestHitsNameTheirRules(t *testing.T) {
	t.Parallel()
	s := compiled(t, phrases("free"), match.Rule{Kind: match.Mentions, Max: 1}, phrases("gems", "free gems"), phrases("other"))
	if got := matchText(s, "@a @b free gems"); got != "0:free 1:@b 2:free gems" {
		t.Error(got)
	}
	many := strings.Repeat("free ", 40)
	if got := matchText(s, many); got != "0:"+strings.TrimSuffix(strings.Repeat("free,", 20), ",") {
		t.Error(got)
	}
}

func TestBadRules(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]match.Rule{
		`terms[1] has no visible characters`:                   phrases("a", "\u200b"),
		`terms[0] must be 1 to 100 characters`:                 phrases(strings.Repeat("é", 101)),
		`terms must have 1 to 1000 elements`:                   phrases(),
		`allow[0] has no visible characters`:                   {Kind: match.Terms, Terms: []string{"a"}, Allow: []string{"*"}},
		`patterns[0] must not match an empty text`:             {Kind: match.Pattern, Patterns: []string{"a*"}},
		`patterns[1] does not compile at character 1`:          {Kind: match.Pattern, Patterns: []string{"a", "("}},
		`patterns must have 1 to 10 elements`:                  {Kind: match.Pattern, Patterns: make([]string, 11)},
		`mode must be all or listed`:                           {Kind: match.Links},
		`blockDomains is required`:                             {Kind: match.Links, Mode: match.ListedLinks},
		`terms[1] must not contain control characters`:         phrases("a", "a\x00b"),
		`patterns[0] must not contain control characters`:      {Kind: match.Pattern, Patterns: []string{"a\nb"}},
		`blockDomains[1] must be a domain`:                     {Kind: match.Links, Mode: match.ListedLinks, Blocked: []string{"a-b.com", "-a.com"}},
		`blockDomains[0] must be a domain`:                     {Kind: match.Links, Mode: match.ListedLinks, Blocked: []string{"a-.com"}},
		`allowDomains[0] must be a domain`:                     {Kind: match.Links, Mode: match.AllLinks, Allowed: []string{"http://x"}},
		`minLength must be 1 to 500`:                           {Kind: match.Caps, Percent: 1},
		`percent must be 1 to 100`:                             {Kind: match.Symbols, MinLength: 1},
		`maxMarks must be 1 to 20`:                             {Kind: match.Symbols, MinLength: 1, Percent: 1, MaxMarks: 21},
		`max must be 1 to 50`:                                  {Kind: match.Mentions},
		`sameSender is required`:                               {Kind: match.Repetition, Within: time.Second},
		`withinSeconds must be 1 to 600`:                       {Kind: match.Repetition, Senders: 2},
		`kind must be one of caps, links, mentions, pattern, `: {Kind: "unknown"},
	} {
		found := match.Check(rule)
		if len(found) != 1 || !strings.HasPrefix(found[0].Field+" "+found[0].Description, want) {
			t.Errorf("%+v: %v, want %s", rule, found, want)
		}
		if _, err := match.Compile([]match.Rule{phrases("a"), rule}); err == nil || !strings.HasPrefix(err.Error(), "rule 1: "+want) {
			t.Errorf("%+v: %v, want %s", rule, err, want)
		}
	}
}

// TestCheckReportsEverything checks rules with several mistakes. A list that is too long is not read.
func TestCheckReportsEverything(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 101)
	for want, rule := range map[string]match.Rule{
		"terms[0] terms[2] allow[0] allow[1]":  {Kind: match.Terms, Terms: []string{long, "a", "\u200b"}, Allow: []string{"a\x00", "*"}},
		"terms allow[0]":                       {Kind: match.Terms, Terms: make([]string, 1001), Allow: []string{"*"}},
		"terms allow":                          {Kind: match.Terms, Allow: make([]string, 1001)},
		"patterns[0] patterns[1] patterns[3]":  {Kind: match.Pattern, Patterns: []string{"(", "a\n", "b", "c*"}},
		"patterns":                             {Kind: match.Pattern, Patterns: make([]string, 11)},
		"mode allowDomains[0] blockDomains[1]": {Kind: match.Links, Allowed: []string{"-"}, Blocked: []string{"a.com", "-"}},
		"blockDomains allowDomains":            {Kind: match.Links, Mode: match.ListedLinks, Allowed: make([]string, 1001)},
		"maxMarks minLength percent":           {Kind: match.Symbols, MaxMarks: 21},
		"sameSender senders withinSeconds":     {Kind: match.Repetition, SameSender: 1, Senders: 1},
	} {
		var fields []string
		for _, v := range match.Check(rule) {
			fields = append(fields, v.Field)
		}
		if got := strings.Join(fields, " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestLimits compiles rules that exceed each limit of a channel, and that exceed none.
func TestLimits(t *testing.T) {
	t.Parallel()
	thousand := func(format string) match.Rule {
		r := match.Rule{Kind: match.Terms, Evasions: true}
		for i := range 1000 {
			r.Terms = append(r.Terms, fmt.Sprintf(format, i))
		}
		return r
	}
	var rules, large []match.Rule
	for i := range 11 {
		rules = append(rules, thousand(fmt.Sprintf("word%c %%d", 'a'+i)))
		large = append(large, thousand(fmt.Sprintf("%s%c%%d", strings.Repeat("я", 30), 'a'+i)))
	}
	for want, rules := range map[error][]match.Rule{
		nil: rules[:10], match.ErrTooManyTerms: rules, match.ErrTooMuchText: large[:9], match.ErrTooManyRules: make([]match.Rule, 101),
	} {
		if err := match.CheckLimits(rules); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestCostliestRuleIsNamed compiles rules that take too many steps.
func TestCostliestRuleIsNamed(t *testing.T) {
	t.Parallel()
	nested := func(n int) match.Rule {
		r := match.Rule{Kind: match.Terms}
		for n := range n {
			r.Terms = append(r.Terms, "*"+strings.Repeat("a", n+1)+"*")
		}
		return r
	}
	long := func(n ...int) match.Rule {
		r := match.Rule{Kind: match.Pattern}
		for _, n := range n {
			r.Patterns = append(r.Patterns, strings.Repeat("[ab]", n))
		}
		return r
	}
	for _, c := range []struct {
		name  string
		rules []match.Rule
		want  match.TooCostlyError
	}{
		{"a rule alone", []match.Rule{phrases("a"), long(1, 120, 2)}, match.TooCostlyError{Rule: 1, Field: "patterns[1]"}},
		{"a sum", []match.Rule{long(40), long(20, 60), long(70)}, match.TooCostlyError{Rule: 1, Field: "patterns[1]"}},
		{"terms that are in each other", []match.Rule{nested(95), nested(97), nested(96)}, match.TooCostlyError{Rule: 1}},
		{"terms and patterns", []match.Rule{long(40), nested(90), phrases("b"), long(40)}, match.TooCostlyError{Rule: 1}},
	} {
		err := match.CheckLimits(c.rules)
		var got *match.TooCostlyError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want.Error())
		}
	}
	if s := compiled(t, nested(80)); s.Steps() < 80 || s.Size() < 1000 {
		t.Errorf("%d steps, %d bytes", s.Steps(), s.Size())
	}
}

// TestChannelMayHaveManyPatterns compiles rules as channels have them.
func TestChannelMayHaveManyPatterns(t *testing.T) {
	t.Parallel()
	var rules []match.Rule
	for i := range 3 {
		rules = append(rules, match.Rule{Kind: match.Pattern, Patterns: []string{
			fmt.Sprintf("buy (cheap|fast) followers %d", i), `\bfree\s+(gift|nitro|robux|v-?bucks)\b`, `discord\.gg/\w+`, "(visit|see) my (channel|profile)", `\bwin \d+ ?(usd|eur)`,
		}})
	}
	rules = append(rules, match.Rule{Kind: match.Pattern, Patterns: []string{strings.Repeat("The quick brown fox jumps over the lazy dog and sees 12 judges. ", 7)}})
	compiled(t, rules...)
}

// TestManyMatchesTakeLittleTime matches a text with 30,000 parts that match, and as many that are
// allowed: to compare each with each would take seconds.
func TestManyMatchesTakeLittleTime(t *testing.T) {
	t.Parallel()
	r := match.Rule{Kind: match.Terms}
	for n := range 60 {
		r.Terms = append(r.Terms, "*"+strings.Repeat("a", n+1)+"*")
	}
	r.Allow = r.Terms
	s := compiled(t, r)
	start := time.Now()
	if got := matchText(s, strings.Repeat("a", 500)); got != "" {
		t.Error(got)
	}
	if took := time.Since(start); took > 500*time.Millisecond {
		t.Errorf("took %s", took)
	}
}
