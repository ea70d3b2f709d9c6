package validate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/validate"
)

// violations returns the violations that the fields report.
func violations(t *testing.T, f *validate.Fields) []apierr.Violation {
	t.Helper()
	err := f.Err()
	if err == nil {
		return nil
	}
	var invalid *apierr.Error
	if !errors.As(err, &invalid) || apierr.Code(invalid.Reason) != "INVALID_ARGUMENT" {
		t.Fatalf("got %v, want INVALID_ARGUMENT", err)
	}
	return invalid.Violations
}

// textCase is a value, and either its normalized form or its violation.
type textCase struct {
	name, value, want, wrong string
}

// run reads each value as the field "field".
func run(t *testing.T, cases []textCase, read func(f *validate.Fields, field, value string) string) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var f validate.Fields
			got := read(&f, "field", c.value)
			var want []apierr.Violation
			if c.wrong != "" {
				want = []apierr.Violation{{Field: "field", Description: c.wrong}}
			}
			if found := violations(t, &f); !slices.Equal(found, want) {
				t.Errorf("%q: got violations %v, want %v", c.value, found, want)
			}
			if c.wrong == "" && got != c.want {
				t.Errorf("%q: got %q, want %q", c.value, got, c.want)
			}
		})
	}
}

// bound returns read for a field within bounds.
func bound(bounds *optionsv1.Bounds, read func(f *validate.Fields, field, value string) string) func(f *validate.Fields, field, value string) string {
	return func(f *validate.Fields, field, value string) string { return read(f.Bind(field, bounds), field, value) }
}

// formatted returns read for a field of a format.
func formatted(format optionsv1.Format, read func(f *validate.Fields, field, value string) string) func(f *validate.Fields, field, value string) string {
	return bound(&optionsv1.Bounds{Format: format}, read)
}

const (
	testID  = "0b6f0001-0000-4000-8000-00000000000a"
	notUUID = "must be a UUID in its 36-character form"
)

var malformedIDs = []textCase{
	{"35 characters", testID[:35], "", notUUID},
	{"37 characters", testID + "0", "", notUUID},
	{"braces", "{" + testID + "}", "", notUUID},
	{"a URN", "urn:uuid:" + testID, "", notUUID},
	{"no hyphens", strings.ReplaceAll(testID, "-", ""), "", notUUID},
	{"no hexadecimal", "g" + testID[1:], "", notUUID},
	{"a space for its first character", " " + testID[1:], "", notUUID},
	{"hyphens elsewhere", "0b6f000-10000-4000-8000-00000000000a", "", notUUID},
	{"a sign", "+b6f0001-0000-4000-8000-00000000000a", "", notUUID},
	{"0x", "0x6f0001-0000-4000-8000-00000000000a", "", notUUID},
	{"wide digits", testID[:33] + "１", "", notUUID},
	{"a space", " ", "", notUUID},
	{"the nil UUID", "00000000-0000-0000-0000-000000000000", "", notUUID},
}

func TestUUID(t *testing.T) {
	cases := append([]textCase{
		{"lower case", testID, testID, ""},
		{"upper case", strings.ToUpper(testID), testID, ""},
		{"mixed case", "0b6F0001-0000-4000-8000-00000000000A", testID, ""},
		{"empty", "", "", "is required"},
	}, malformedIDs...)
	run(t, cases, func(f *validate.Fields, field, value string) string { return f.UUID(field, value).String() })
}

func TestOptionalUUID(t *testing.T) {
	cases := append([]textCase{
		{"upper case", strings.ToUpper(testID), testID, ""},
		{"empty", "", uid.ID{}.String(), ""},
	}, malformedIDs...)
	run(t, cases, func(f *validate.Fields, field, value string) string { return f.OptionalUUID(field, value).String() })
}

func TestIdentifier(t *testing.T) {
	for _, word := range []struct {
		format optionsv1.Format
		most   int
		wrong  string
		upper  bool
	}{
		{optionsv1.Format_FORMAT_USERNAME, 40, "must be 1 to 40 of A-Z a-z 0-9 _ . -", true},
		{optionsv1.Format_FORMAT_CLIENT_ID, 64, "must be 1 to 64 of A-Z a-z 0-9 _ . -", true},
		{optionsv1.Format_FORMAT_SLUG, 140, "must be 1 to 140 of a-z 0-9 _ . -", false},
	} {
		cases := []textCase{
			{"all allowed characters", "abcxyz019_.-", "abcxyz019_.-", ""},
			{"one character", "a", "a", ""},
			{"single digit", "7", "7", ""},
			{"single hyphen", "-", "-", ""},
			{"the longest", strings.Repeat("a", word.most), strings.Repeat("a", word.most), ""},
			{"one character too long", strings.Repeat("a", word.most+1), "", word.wrong},
			{"empty", "", "", "is required"},
			{"a space", " ", "", word.wrong},
			{"a space after", "ines ", "", word.wrong},
			{"a line feed after", "ines\n", "", word.wrong},
			{"a zero byte", "in\x00es", "", word.wrong},
			{"an accent", "inês", "", word.wrong},
			{"a combining accent", "ine\u0302s", "", word.wrong},
			{"a Kelvin sign", "\u212Aira", "", word.wrong},
			{"a dotless i", "\u0131nes", "", word.wrong},
			{"an at sign", "@ines", "", word.wrong},
			{"a slash", "a/b", "", word.wrong},
			{"a percent sign", "a%b", "", word.wrong},
			{"invalid UTF-8", "a\xff", "", word.wrong},
		}
		upper := textCase{"capitals", "Ines", "Ines", ""}
		if !word.upper {
			upper = textCase{"capitals", "Ines", "", word.wrong}
		}
		t.Run(word.format.String(), func(t *testing.T) {
			run(t, append(cases, upper), formatted(word.format, (*validate.Fields).Identifier))
		})
	}
}

func TestText(t *testing.T) {
	const bounds, controls = "must be 3 to 5 characters", "must not contain control characters"
	run(t, []textCase{
		{"a word", "hello", "hello", ""},
		{"the shortest", "abc", "abc", ""},
		{"too short", "ab", "", bounds},
		{"too long", "abcdef", "", bounds},
		{"empty", "", "", "is required"},
		{"spaces only", " \t\n\u3000\u00a0", "", "is required"},
		{"spaces around", " \t hello\n", "hello", ""},
		{"spaces of Unicode around", "\u3000hello\u00a0", "hello", ""},
		{"a space inside", "a b", "a b", ""},
		{"five characters of four bytes", "𝄞𝄞𝄞𝄞𝄞", "𝄞𝄞𝄞𝄞𝄞", ""},
		{"six characters of four bytes", "𝄞𝄞𝄞𝄞𝄞𝄞", "", bounds},
		{"decomposed characters", "e\u0301e\u0301e\u0301", "ééé", ""},
		{"five decomposed characters", strings.Repeat("e\u0301", 5), "ééééé", ""},
		{"three letters that compose to two", "ae\u0301", "", bounds},
		{"singletons", "\u212b\u2126\u212a", "ÅΩK", ""}, // Ångström, Ohm, Kelvin
		{"Hangul", "\u1112\u1161\u11ab\u1112\u1161\u11ab\u1112\u1161\u11ab", "한한한", ""},
		{"two accents in the wrong order", "a\u0323\u0302bc", "ậbc", ""},
		{"compatibility characters stay", "ﬁﬁﬁ", "ﬁﬁﬁ", ""},
		{"composition exclusions grow", "\u0958\u0958\u0958", "", bounds}, // grow to six
		{"a joined family", "👨‍👩‍👧", "👨‍👩‍👧", ""},
		{"a zero byte", "ab\x00cd", "", controls},
		{"a tab", "ab\tcd", "", controls},
		{"a line feed", "ab\ncd", "", controls},
		{"a delete", "ab\x7fcd", "", controls},
		{"a C1 control", "ab\u0085cd", "", controls},
		{"a byte order mark stays", "ab\ufeffcd", "ab\ufeffcd", ""},
		{"invalid UTF-8", "ab\xffcd", "", "must be valid UTF-8"},
		{"a surrogate", "ab\xed\xa0\x80cd", "", "must be valid UTF-8"},
		{"an overlong zero", "ab\xc0\x80cd", "", "must be valid UTF-8"},
	}, bound(&optionsv1.Bounds{MinLength: 3, MaxLength: 5}, (*validate.Fields).Text))
}

func TestOptionalText(t *testing.T) {
	run(t, []textCase{
		{"empty", "", "", ""},
		{"spaces only", "  \n ", "", ""},
		{"nothing visible", "\u200b", "", "must have a visible character"},
		{"the longest", "abcde", "abcde", ""},
		{"too long", "abcdef", "", "must be 0 to 5 characters"},
		{"a control character", "\x00", "", "must not contain control characters"},
	}, bound(&optionsv1.Bounds{MaxLength: 5}, (*validate.Fields).Text))
}

func TestMessage(t *testing.T) {
	const controls = "must not contain control characters"
	run(t, []textCase{
		{"a message", " gg \n", "gg", ""},
		{"tabs and line feeds inside", "a\tb\n\nc", "a\tb\n\nc", ""},
		{"a carriage return", "a\r\nb", "", controls},
		{"a vertical tab", "a\vb", "", controls},
		{"an escape", "a\x1bb", "", controls},
		{"500 characters", strings.Repeat("ü", 500), strings.Repeat("ü", 500), ""},
		{"500 characters after normalisation", strings.Repeat("u\u0308", 500), strings.Repeat("ü", 500), ""},
		{"501 characters", strings.Repeat("ü", 501), "", "must be 1 to 500 characters"},
		{"empty", "", "", "is required"},
		{"line feeds only", "\n\n", "", "is required"},
		{"nothing visible", "\u200b \u3164\u2800\u034f\ufe0f\u00ad\U000e0041", "", "must have a visible character"},
		{"a dot among characters that show nothing", "\u200b.\u3164", "\u200b.\u3164", ""},
		{"a character of private use", "\ue000", "\ue000", ""},
	}, bound(&optionsv1.Bounds{MinLength: 1, MaxLength: 500}, (*validate.Fields).Message))
}

func TestLanguage(t *testing.T) {
	const wrong = "must be a BCP 47 language tag, such as en or pt-BR"
	run(t, []textCase{
		{"a language", "en", "en", ""},
		{"capitals", "EN", "en", ""},
		{"a region in lower case", "pt-br", "pt-BR", ""},
		{"a script", "zh-hant-tw", "zh-Hant-TW", ""},
		{"an old code", "iw", "he", ""},
		{"a grandfathered tag", "i-klingon", "tlh", ""},
		{"a variant", "de-1996", "de-1996", ""},
		{"an extension", "de-u-co-phonebk", "de-u-co-phonebk", ""},
		{"a language of three letters", "haw", "haw", ""},
		{"35 characters", "en-x-" + strings.Repeat("abcdefg-", 3) + "abcdef", "en-x-abcdefg-abcdefg-abcdefg-abcdef", ""},
		{"36 characters", "en-x-" + strings.Repeat("abcdefg-", 3) + "abcdefg", "", wrong},
		{"empty", "", "", wrong},
		{"an unknown language", "xx", "", wrong},
		{"a word", "english", "", wrong},
		{"a space", "en ", "", wrong},
		{"a locale", "en_US.UTF-8", "", wrong},
		{"a wildcard", "*", "", wrong},
		{"an empty subtag", "en--US", "", wrong},
		{"a hyphen after", "en-", "", wrong},
		{"two languages", "en,de", "", wrong},
		{"a zero byte", "en\x00", "", wrong},
		{"very long", strings.Repeat("en-", 10_000), "", wrong},
	}, formatted(optionsv1.Format_FORMAT_LANGUAGE, (*validate.Fields).Language))
}

func TestRequiredLanguage(t *testing.T) {
	run(t, []textCase{
		{"a language", "pt-br", "pt-BR", ""},
		{"empty", "", "", "is required"},
		{"an unknown language", "xx", "", "must be a BCP 47 language tag, such as en or pt-BR"},
	}, formatted(optionsv1.Format_FORMAT_LANGUAGE, (*validate.Fields).RequiredLanguage))
}

func TestChannelAndUser(t *testing.T) {
	const other = "0b6f0002-0000-4000-8000-00000000000b"
	channelID, userID, err := validate.ChannelAndUser(&moderatov1.AddModeratorRequest{ChannelId: strings.ToUpper(testID), UserId: other})
	if err != nil || channelID.String() != testID || userID.String() != other {
		t.Errorf("got %s, %s, %v, want %s, %s", channelID, userID, err, testID, other)
	}
	_, _, err = validate.ChannelAndUser(&moderatov1.AddModeratorRequest{UserId: "x"})
	want := []apierr.Violation{{Field: "channelId", Description: "is required"}, {Field: "userId", Description: notUUID}}
	var invalid *apierr.Error
	if !errors.As(err, &invalid) || !slices.Equal(invalid.Violations, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A text that is far too long is rejected before it is parsed: the time to parse it can
// be quadratic in its length.
func TestLanguageRejectsLongTextWithoutParsing(t *testing.T) {
	var f validate.Fields
	start := time.Now()
	f.Language("lang", "en-"+strings.Repeat("_", 1_000_000))
	if elapsed := time.Since(start); f.Err() == nil || elapsed > 20*time.Second {
		t.Errorf("got %v after %s, want a violation immediately", f.Err(), elapsed)
	}
}

func TestURL(t *testing.T) {
	const wrong = "must be an http or https address of at most 2048 characters"
	longest := "https://img.example.com/" + strings.Repeat("a", 2048-len("https://img.example.com/"))
	run(t, []textCase{
		{"empty", "", "", ""},
		{"https", "https://img.example.com/a.png?size=2#x", "https://img.example.com/a.png?size=2#x", ""},
		{"http", "http://img.example.com/", "http://img.example.com/", ""},
		{"a port", "https://img.example.com:8443/a.png", "https://img.example.com:8443/a.png", ""},
		{"2048 characters", longest, longest, ""},
		{"2049 characters", longest + "a", "", wrong},
		{"a script", "javascript:alert(1)", "", wrong},
		{"data", "data:image/png;base64,AAAA", "", wrong},
		{"a file", "file:///etc/passwd", "", wrong},
		{"no host", "https:///a.png", "", wrong},
		{"no scheme", "img.example.com/a.png", "", wrong},
		{"no scheme but slashes", "//img.example.com/a.png", "", wrong},
		{"a path", "/a.png", "", wrong},
		{"a control character", "https://img.example.com/\x00", "", wrong},
		{"a line feed", "https://img.example.com/\n", "", wrong},
	}, formatted(optionsv1.Format_FORMAT_URL, (*validate.Fields).URL))
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		value *int32
		want  int // 0: invalid
	}{
		{"unset", nil, 20}, {"1", proto.Int32(1), 1}, {"100", proto.Int32(100), 100},
		{"0", proto.Int32(0), 0}, {"101", proto.Int32(101), 0}, {"-1", proto.Int32(-1), 0},
		{"minimum int32", proto.Int32(-1 << 31), 0}, {"maximum int32", proto.Int32(1<<31 - 1), 0},
	} {
		var f validate.Fields
		got := f.Bind("limit", &optionsv1.Bounds{Min: 1, Max: 100, DefaultValue: 20}).Limit("limit", c.value)
		var want []apierr.Violation
		if c.want == 0 {
			want = []apierr.Violation{{Field: "limit", Description: "must be between 1 and 100"}}
		}
		if found := violations(t, &f); !slices.Equal(found, want) || (c.want > 0 && got != c.want) {
			t.Errorf("%s: got %d, %v, want %d, %v", c.name, got, found, c.want, want)
		}
	}
}

func TestChoice(t *testing.T) {
	const wrong = "must be one of moderator, vip, og"
	run(t, []textCase{
		{"the first", "moderator", "moderator", ""},
		{"the last", "og", "og", ""},
		{"another", "owner", "", wrong},
		{"capitals", "VIP", "", wrong},
		{"a part", "mod", "", wrong},
		{"two", "vip, og", "", wrong},
		{"empty", "", "", wrong},
	}, bound(&optionsv1.Bounds{Values: []string{"moderator", "vip", "og"}}, (*validate.Fields).Choice))
}

func TestFieldHasOneViolation(t *testing.T) {
	t.Parallel()
	var f, element validate.Fields
	f.Add("a", "is wrong")
	f.Add("b", "is wrong")
	f.Add("a", "is too long")
	element.In("b")
	element.Add("a", "is wrong")
	f.Include(&element)
	f.Add("b.a", "is given twice")
	if got := fmt.Sprint(apierr.Of(f.Err()).Violations); got != "[{a is wrong} {b is wrong} {b.a is wrong}]" {
		t.Error(got)
	}
}

func TestEveryViolationIsReportedInOrder(t *testing.T) {
	var f validate.Fields
	f.UUID("channelId", "x")
	f.UUID("userId", testID)
	f.Bind("username", &optionsv1.Bounds{Format: optionsv1.Format_FORMAT_USERNAME}).Identifier("username", "a b")
	f.In("user")
	f.Bind("displayName", &optionsv1.Bounds{MinLength: 1, MaxLength: 140}).Text("displayName", "")
	f.Bind("limit", &optionsv1.Bounds{Min: 1, Max: 20}).Limit("limit", proto.Int32(0))
	f.Add("scopes[1]", "is not known")
	want := []apierr.Violation{
		{Field: "channelId", Description: notUUID},
		{Field: "username", Description: "must be 1 to 40 of A-Z a-z 0-9 _ . -"},
		{Field: "user.displayName", Description: "is required"},
		{Field: "user.limit", Description: "must be between 1 and 20"},
		{Field: "user.scopes[1]", Description: "is not known"},
	}
	if got := violations(t, &f); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var none validate.Fields
	if err := none.Err(); err != nil {
		t.Errorf("without a violation: got %v, want no error", err)
	}
}
