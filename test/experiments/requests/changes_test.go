package requests_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
)

// texts are unusual texts, which JSON can express.
var texts = []string{
	"", " ", "\x00", "a\x00b", "\u202eright to left", "\u2066\u2069", "e\u0301\u0301\u0301\u0301", "\ufeff", "\ufffd", "\U0001f468\u200d\U0001f469", "ß", "İ",
	"' OR '1'='1", `"; --`, "%s%n%d", "${7*7}", "{{7*7}}", "../../../etc/passwd", "<script>", "null", "NaN", "true", "-0", "1e400",
	strings.Repeat("a", 41), strings.Repeat("a", 141), strings.Repeat("é", 501), strings.Repeat("\U0001f600", 2000), strings.Repeat("a", 60_000),
	"00000000-0000-0000-0000-000000000000", "0B6F0001-0000-4000-8000-00000000000A", "{0b6f0001-0000-4000-8000-00000000000a}", "0b6f0001000040008000000000000000a",
	"9999-12-31T23:59:60Z", "0000-00-00T00:00:00Z", "2026-01-01T00:00:00+99:99", "http://[::1]:0/", "https://user:password@hooks.invalid/", "file:///",
	"(a+)+$", "[", "a{1000000}", "channel.*", "CHANNEL.BAN", "x.y", "tomasz_wrona", "@tomasz_wrona", "zh-Hant-TW-x-a", "en_US",
}

// numbers are unusual numbers, as JSON writes them.
var numbers = []string{
	"0", "-1", "-0", "1.0", "1.5", "1e0", "1e400", "-1e400", "21", "101", "2147483647", "2147483648", "9007199254740992", "9223372036854775807",
	"9223372036854775808", "18446744073709551616", "1" + strings.Repeat("0", 400), "0.1e-400", "1E+2",
}

// encodings are texts of a query that are not, or oddly, percent-encoded.
var encodings = []string{
	"%", "%0", "%zz", "%00", "%ff", "%c0%af", "%ed%a0%80", "%f4%90%80%80", "%u0041", "%2500", "%25", "+", "a%20b", "%0d%0aX-Injected:%201", "%e2%80%ae",
	"%F0%9F%98%80", ";", "a;b=c", "&&", "=", "==", "%26", "%3D", "#", "1%00", "%EF%BB%BF",
}

// numberText is a number that is written as it is.
type numberText string

// MarshalJSON implements json.Marshaler.
func (n numberText) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// unusual returns a value of any type.
func (g *generator) unusual() any {
	switch g.rand.IntN(9) {
	case 0:
		return nil
	case 1:
		return g.rand.IntN(2) == 0
	case 2, 3:
		return numberText(pick(g, numbers))
	case 4:
		return []any{pick(g, texts), 1, nil}
	case 5:
		return map[string]any{pick(g, texts): 1}
	case 6:
		return slices.Repeat([]any{"a"}, 2000)
	}
	return pick(g, texts)
}

// changeField changes a field of the body.
func changeField(g *generator, r *request) {
	names := slices.Sorted(maps.Keys(object(r.operation.body["properties"])))
	if len(names) == 0 {
		names = []string{"a"}
	}
	name := pick(g, names)
	schema := g.resolve(object(r.operation.body["properties"])[name])
	switch g.rand.IntN(10) {
	case 0:
		delete(r.fields, name)
	case 1:
		r.fields[strings.ToUpper(name)] = r.fields[name]
	case 2:
		r.fields[pick(g, texts)] = g.unusual()
	case 3:
		r.fields[pick(g, []string{"duration", "reason", "expiresAt", "permanent", "channel_id", "__proto__", "dryRun"})] = g.unusual()
	case 4:
		r.fields[name] = g.atBound(schema)
	default:
		r.fields[name] = g.unusual()
	}
}

// atBound returns a value at a bound of a schema, or next to it.
func (g *generator) atBound(schema map[string]any) any {
	by := g.rand.IntN(3) - 1
	for _, bound := range []string{"minimum", "maximum"} {
		if n, isBound := schema[bound].(float64); isBound && g.rand.IntN(2) == 0 {
			return int64(n) + int64(by)
		}
	}
	for _, bound := range []string{"maxLength", "minLength"} {
		if n, isBound := schema[bound].(float64); isBound && n < math.MaxInt16 {
			return strings.Repeat(pick(g, []string{"a", "é", "\U0001f600"}), max(0, int(n)+by))
		}
	}
	if n, isBound := schema["maxItems"].(float64); isBound {
		return slices.Repeat([]any{g.valid("", object(schema["items"]))}, max(0, int(n)+by))
	}
	return g.unusual()
}

// nesting is how deep a nested body is: as deep as the limit of a body allows.
const nesting = 30_000

// changeBody writes a body that is not the JSON of an object with the fields.
func changeBody(g *generator, r *request) {
	text := encode(r.operation.mediaType, r.fields)
	switch g.rand.IntN(16) {
	case 0:
		r.body = text[:g.rand.IntN(len(text)+1)]
	case 1:
		r.body = append(r.body, text...)
		r.body = append(r.body, pick(g, []string{"{}", "x", "\x00", " ", "\n\n", "]"})...)
	case 2:
		r.body = []byte(pick(g, []string{"", "[]", "null", "true", "1", `"a"`, "{", "}", "{}", " ", "\ufeff", "NaN", "{a:1}", "{'a':1}", "[{}]", `{"":1}`}))
	case 3:
		r.body = append([]byte("\ufeff"), text...)
	case 4: // the first key twice
		r.body = bytes.Replace(text, []byte("{"), []byte(`{"channelId":"a","channelId":"b",`), 1)
	case 5: // not UTF-8
		r.body = bytes.Replace(text, []byte(`":"`), []byte("\":\"\xff\xc0\xaf\xed\xa0\x80"), 1)
	case 6: // surrogates
		r.body = bytes.Replace(text, []byte(`":"`), []byte(`":"`+pick(g, []string{`\ud800`, `\udc00`, `\ud83d\ude00`, `\ud83dx`, `\u0000`, `\x`, `\u12`})), 1)
	case 7:
		r.body = []byte(strings.Repeat(pick(g, []string{"[", `{"a":`, `[{"a":`}), nesting))
	case 8:
		r.body = bytes.Replace(text, []byte("{"), []byte(`{"nested":`+strings.Repeat("[", nesting)+strings.Repeat("]", nesting)+","), 1)
	case 9: // above the limit
		r.body = bytes.Replace(text, []byte("{"), []byte(`{"filler":"`+strings.Repeat("a", 70_000)+`",`), 1)
	case 10: // UTF-16
		for _, b := range text {
			r.body = append(r.body, b, 0)
		}
	case 11:
		r.header.Set("Content-Encoding", pick(g, []string{"gzip", "deflate", "br", "identity", "gzip, gzip", "GZIP"}))
		r.body = text
	case 12:
		r.header.Set("Content-Encoding", "gzip")
		r.body = zipped(text)
	case 13:
		r.header.Set("Content-Encoding", "gzip")
		r.body = zipped(text)[:g.rand.IntN(20)]
	case 14:
		r.body = bytes.ReplaceAll(text, []byte(","), []byte(",,"))
	case 15:
		r.body = []byte(url.Values{"channelId": {"a", "b"}, "grant_type": {"client_credentials", "x"}}.Encode() + "&%zz=%00")
	}
	if r.body == nil {
		r.body = []byte{}
	}
}

// zipped returns a text compressed with gzip.
func zipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

// changeMediaType changes what the body is said to be.
func changeMediaType(g *generator, r *request) {
	switch given := pick(g, []string{
		"", "text/plain", "application/json; charset=utf-16", "application/json; charset=\"utf-8\"", "application/json;", "application/json; charset=latin1",
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "APPLICATION/JSON", "application/problem+json", "application/grpc",
		"application/json, text/html", "*/*", "application/json; a=b; a=c", "/", "application/json\t",
	}); given {
	case "":
		r.header.Del("Content-Type")
	default:
		r.header.Set("Content-Type", given)
	}
}

// changeQuery changes the query.
func changeQuery(g *generator, r *request) {
	names := []string{"limit", "cursor", "channelId", "slug", "a"}
	for _, p := range r.operation.parameters {
		name, _ := p["name"].(string)
		names = append(names, name, name)
	}
	name := pick(g, names)
	value := url.QueryEscape(pick(g, texts))
	if len(value) > 4000 {
		value = value[:4000]
	}
	switch g.rand.IntN(12) {
	case 0, 1:
		value = pick(g, encodings)
	case 2, 3:
		value = pick(g, numbers)
	case 4: // repeated
		r.query = append(r.query, name+"="+value, name+"="+value)
	case 5: // the spellings of an array
		plain := strings.TrimSuffix(name, "[]")
		name = plain + pick(g, []string{"[]", "[0]", "%5B%5D", "%5b1%5d", "[", "[]]", "[a]", "[][]", "[-1]", ""})
	case 6:
		r.query = slices.Repeat([]string{url.QueryEscape(name) + "=" + url.QueryEscape(pick(g, []string{"a", "1", "channel.ban"}))}, 150)
		return
	case 7:
		name = pick(g, []string{"channel_id", "ChannelId", "channelid", "limits", "Limit", "%00", "%ff", "__proto__", "access_token"})
	case 8:
		if len(r.query) > 0 {
			r.query = slices.Delete(r.query, 0, 1)
		}
		return
	}
	r.query = append(r.query, name+"="+value)
}

// changePath changes the path.
func changePath(g *generator, r *request) {
	if g.rand.IntN(4) != 0 { // most changes would only find no path
		changeQuery(g, r)
		return
	}
	switch g.rand.IntN(8) {
	case 0:
		r.path += "/"
	case 1:
		r.path = strings.Replace(r.path, "a", "%61", 1)
	case 2:
		r.path = strings.ToUpper(r.path)
	case 3:
		r.path = "/" + r.path
	case 4:
		r.path += pick(g, []string{"%00", "%ff", "%2e%2e", "/..", "/.", ";a=b", "%20", "/%2f", "/../../etc/passwd", "\\", "%c0%af"})
	case 5:
		r.path = "/v2" + r.path
	case 6:
		r.path = "/" + strings.Repeat("a", 2000)
	case 7:
		r.path = "/moderato.v1.ModerationService/BanUser"
	}
}

// changeMethod changes the method.
func changeMethod(g *generator, r *request) {
	r.method = pick(g, []string{"HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "get", "POST", "GET", "DELETE", "PROPFIND"})
}

// changeHeader adds a header that is unusual.
func changeHeader(g *generator, r *request) {
	name := pick(g, []string{
		"Authorization", "client-id", "acting-user", "Idempotency-Key", "X-Request-Id", "Accept", "Accept-Encoding", "Last-Event-ID", "Cookie", "Origin",
		"X-HTTP-Method-Override", "Grpc-Timeout", "Grpc-Metadata-Authorization", "X-Forwarded-For", "traceparent", "Range", "If-None-Match", "Expect",
		"Content-Language", "Access-Control-Request-Method", "TE", "Forwarded",
	})
	value := pick(g, []string{
		"", "a", "Bearer", "Bearer x", "Basic eDp5", "0b6f0001-0000-4000-8000-00000000000a", "1S", "DELETE", strings.Repeat("a", 300), strings.Repeat("a", 3000),
		"é", "\xff\xfe", "a,b", "a;q=x", "gzip;q=0", "identity;q=0, *;q=0", "*", "bytes=0-", "100-continue", "00-00000000000000000000000000000000-0000000000000000-00",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "https://evil.example", "null", "127.0.0.1, x", "a b", "\"", "\t",
	})
	if g.rand.IntN(5) == 0 {
		r.header[name] = append(r.header[name], value)
	}
	r.header[name] = append(r.header[name], value)
}

var _ json.Marshaler = numberText("")
