package main

import "github.com/moderato-live/moderato/server/rpc/authn"

// rateLimitHeaders are the headers that describe the caller's bucket.
var rateLimitHeaders = []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}

// responseHeaders are the headers of responses that the document describes. Those of HTTP
// itself, such as Content-Length, Cache-Control and Vary, are left out.
var responseHeaders = map[string]object{
	"X-Request-Id": {
		{"description", "The id of the request: the one that the caller sent, or a new one. Quote it when you report a problem."},
		{"required", true}, {"schema", object{{"type", "string"}}}, {"example", exampleRequestID},
	},
	"RateLimit-Limit":     rateLimitHeader("The number of requests a minute that this client and user may send. Service tokens have no limit, and none of the three headers.", 600),
	"RateLimit-Remaining": rateLimitHeader("The number of requests that remain.", 599),
	"RateLimit-Reset":     rateLimitHeader("The number of seconds until all requests are available again.", 1),
	"Retry-After":         rateLimitHeader("The number of seconds to wait before the request is repeated.", 1),
	"Idempotent-Replayed": {
		{"description", "`true` if this is the stored response of an earlier request with the same `Idempotency-Key`. Otherwise the header is missing."},
		{"schema", object{{"type", "string"}, {"const", "true"}}},
	},
	"WWW-Authenticate": {
		{"description", "What the credentials lack, as in RFC 6750."},
		{"schema", object{{"type", "string"}}}, {"example", `Bearer realm="moderato"`},
	},
	"Link": {
		{"description", `The address of the next page with rel="next", if there is one; of a deprecated operation, the one that replaces it with rel="successor-version"; of an error, its section of the documentation with rel="help".`},
		{"schema", object{{"type", "string"}}}, {"example", `</v1/channels/roles/vips?cursor=` + exampleCursor + `&limit=20>; rel="next"`},
	},
	"Deprecation": {
		{"description", "Since when the operation is deprecated, as in RFC 9745."},
		{"schema", object{{"type", "string"}}}, {"example", "@1793491200"},
	},
	"ETag": {
		{"description", "The version of the response, for If-None-Match."},
		{"schema", object{{"type", "string"}}}, {"example", `W/"3f8a2c61"`},
	},
	"Location": {
		{"description", "Where the browser goes."}, {"required", true},
		{"schema", object{{"type", "string"}}}, {"example", "https://app.example.com/callback?code=…&state=…"},
	},
	"X-Accel-Buffering": {
		{"description", "Always `no`: a proxy must not hold events back."},
		{"schema", object{{"type", "string"}, {"const", "no"}}},
	},
	"Referrer-Policy":        pageHeader("no-referrer", "The address holds the id of the sign-in."),
	"X-Frame-Options":        pageHeader("DENY", "The page is shown in no frame."),
	"X-Content-Type-Options": pageHeader("nosniff", "The page is HTML."),
	"Content-Security-Policy": {
		{"description", "The page loads nothing, and is shown in no frame."},
		{"schema", object{{"type", "string"}}}, {"example", "default-src 'none'; frame-ancestors 'none'"},
	},
}

func pageHeader(value, description string) object {
	return object{{"description", description}, {"schema", object{{"type", "string"}, {"const", value}}}}
}

func rateLimitHeader(description string, example int) object {
	return object{{"description", description}, {"schema", object{{"type", "integer"}, {"minimum", 0}}}, {"example", example}}
}

// headers returns references to headers of a response.
func (d *document) headers(names ...string) object {
	o := object{}
	for _, name := range names {
		d.usedHeaders[name] = responseHeaders[name]
		o = append(o, member{name, ref("headers", name)})
	}
	return o
}

// requestHeaders returns the headers that every operation accepts beside the credentials.
func requestHeaders() []object {
	return []object{ref("parameters", "RequestId"), ref("parameters", "ActingUser")}
}

var parameters = object{
	{"ClientId", object{
		{"name", authn.ClientIDKey}, {"in", "header"}, {"required", true},
		{"description", "The id of the client to which the token was issued. It is the header of the security scheme `clientId`, for tools that fill in parameters only."},
		{"schema", object{{"type", "string"}}},
	}},
	{"IfNoneMatch", object{
		{"name", "If-None-Match"}, {"in", "header"},
		{"description", "The `ETag` of an earlier response. If the response would be the same, it is 304 without a body."},
		{"schema", object{{"type", "string"}}},
	}},
	{"RequestId", object{
		{"name", "X-Request-Id"}, {"in", "header"},
		{"description", "An id of the caller's choice for the request: 1 to 64 of `A-Z a-z 0-9 _ . -`. The response, the server's log and the moderation log contain it. Any other value is replaced by a new id."},
		{"schema", object{{"type", "string"}}},
	}},
	{"ActingUser", object{
		{"name", "acting-user"}, {"in", "header"},
		{"description", "The user for whom a backend of the platform acts: a UUID in upper or lower case. It is accepted with a service token alone, which then counts as a token of that user with every scope."},
		{"schema", object{{"type", "string"}, {"format", "uuid"}}},
	}},
	{"IdempotencyKey", object{
		{"name", "Idempotency-Key"}, {"in", "header"},
		{"description", "A key of the caller's choice, such as a UUID. If a request is repeated with the same key within 24 hours, the change is made once, and the repeat gets the first response."},
		{"schema", object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"pattern", "^[!-~]+$"}}},
		{"example", "7d1f6a52-5f0c-4b8e-9a60-0f3c2b1d9e77"},
	}},
}
