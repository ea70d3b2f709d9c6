package main

import (
	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/server/rpc/authz"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

const signInTag = "Sign-in"

// The endpoints of OAuth are not in the .proto files, because standards define them. This
// file describes them by hand; the tests compare it with what the server sends.

// form describes an endpoint that takes a form and returns JSON.
type form struct {
	path, id, summary, description string
	request                        object // the properties of the form
	required                       []string
	response                       string // the schema of the response
	example                        object
	// noPublic is true if public clients may not call.
	noPublic bool
}

func (d *document) signIn() object {
	paths := object{
		{signin.MetadataPath, object{{"get", d.metadata()}}},
		{signin.AuthorizePath, object{{"get", d.authorize()}}},
	}
	for _, f := range forms {
		paths = append(paths, member{f.path, object{{"post", d.form(f)}}})
	}
	for _, j := range jsonEndpoints {
		paths = append(paths, member{j.path, object{{"post", d.json(j)}}})
	}
	for name, schema := range signInSchemas {
		d.schemas[name] = schema
	}
	return paths
}

func (d *document) metadata() object {
	return object{
		{"operationId", "getAuthorizationServerMetadata"}, {"summary", "Authorization server metadata"},
		{"description", "Returns the addresses and abilities of the authorization server (RFC 8414), from which client libraries configure themselves."},
		{"tags", []string{signInTag}}, {"security", []object{}},
		{"responses", append(object{{"200", d.jsonResponse("Success.", ref("schemas", "AuthorizationServerMetadata"), nil)}},
			d.errorResponses(ofServer, authz.Rule{})...)},
	}
}

func (d *document) authorize() object {
	parameter := func(name string, isRequired bool, schema object, description string) object {
		return object{{"name", name}, {"in", "query"}, {"required", isRequired}, {"description", description}, {"schema", schema}}
	}
	page := func(description string, headers ...string) object {
		return object{
			{"description", description}, {"headers", d.headers(append([]string{"X-Request-Id"}, append(headers, pageHeaders...)...)...)},
			{"content", object{{"text/html", object{{"schema", text("A page for a person.")}}}}},
		}
	}
	return object{
		{"operationId", "authorize"}, {"summary", "Begin the authorization code flow"},
		{"description", "Sends the browser of a user to the platform's sign-in page. If the user approves, the browser returns to `redirect_uri` with `code`, `state` and `iss`; otherwise with `error`, `error_description`, `state` and `iss`."},
		{"tags", []string{signInTag}}, {"security", []object{}},
		{"parameters", []object{
			parameter("response_type", true, object{{"type", "string"}, {"const", "code"}}, "Always `code`."),
			parameter("client_id", true, object{{"type", "string"}}, "The client's id."),
			parameter("redirect_uri", true, object{{"type", "string"}}, "Where the browser returns to: one of the client's redirect URIs."),
			parameter("scope", true, object{{"type", "string"}}, "The scopes, separated by spaces."),
			parameter("state", false, object{{"type", "string"}}, "A value that is returned unchanged, against forged responses."),
			parameter("code_challenge", true, object{{"type", "string"}}, "The base64url of the SHA-256 of the PKCE verifier (RFC 7636)."),
			parameter("code_challenge_method", true, object{{"type", "string"}, {"const", "S256"}}, "Always `S256`."),
			parameter("response_mode", false, object{{"type", "string"}, {"const", "query"}}, "Always `query`, which is the default."),
		}},
		{"responses", object{
			{"200", object{{"description", "To HEAD alone, which begins nothing: the client and its redirect URI are known."}, {"headers", d.headers("X-Request-Id")}}},
			{"302", object{
				{"description", "The sign-in page; or the client's redirect URI with an error, if the request is not valid."},
				{"headers", d.headers("X-Request-Id", "Location", "Referrer-Policy")},
			}},
			{"400", page("The client or its redirect URI is not known.")},
			{"429", page("Too many sign-ins from this network.", "Retry-After")},
			d.headersTooLarge(),
			{"500", page("An internal error.")},
			{"503", page("The server has no sign-in page, or is not available.", "Retry-After")},
		}},
	}
}

// pageHeaders are the headers of a page for browsers.
var pageHeaders = []string{"Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy"}

// form returns the operation of an endpoint of OAuth.
func (d *document) form(f form) object {
	security := []object{{{clientSecret, []string{}}}}
	if !f.noPublic {
		security = append(security, object{})
	}
	schema := object{{"type", "object"}, {"properties", append(f.request, clientFields...)}}
	if len(f.required) > 0 {
		schema = schema.with(member{"required", f.required})
	}
	ok := object{{"description", "Success."}, {"headers", d.headers("X-Request-Id")}}
	if f.response != "" {
		ok = d.jsonResponse("Success.", ref("schemas", f.response), f.example)
	}
	failed := func(description, code, message string, headers ...string) object {
		r := d.jsonResponse(description, ref("schemas", "OAuthError"), object{{"error", code}, {"error_description", message}})
		r[1].value = d.headers(append([]string{"X-Request-Id"}, headers...)...)
		return r
	}
	return object{
		{"operationId", f.id}, {"summary", f.summary}, {"description", f.description}, {"tags", []string{signInTag}}, {"security", security},
		{"requestBody", object{{"required", true}, {"content", object{{"application/x-www-form-urlencoded", object{{"schema", schema}}}}}}},
		{"responses", object{
			{"200", ok},
			{"400", failed("The request is not valid; `error` says why.", "invalid_grant", "the code is not valid")},
			{"401", failed("`invalid_client`: the client's id or secret is wrong.", "invalid_client", "the client credentials are not valid", "WWW-Authenticate")},
			{"413", failed("The body is larger than 64 KiB.", "invalid_request", "the body is too large")},
			{"415", failed("The body has a `Content-Encoding` other than gzip.", "invalid_request", "the body has an unsupported content-encoding; send it as it is, or with gzip")},
			{"429", failed("Too many requests.", "temporarily_unavailable", "Too many requests for this client and user. Wait for the time in Retry-After.", "Retry-After")},
			d.headersTooLarge(),
			{"500", failed("An internal error.", "server_error", "An internal error occurred. If it persists, report it with the request id.")},
			{"503", failed("The server is not available.", "temporarily_unavailable", "The service is unavailable at the moment. Try again shortly.", "Retry-After")},
			{"504", failed("The request took too long.", "temporarily_unavailable", "The request took too long. A change may or may not have happened: repeat it, or read the state.")},
		}},
	}
}

// headersTooLarge is the response to a request that is refused before its path is looked at.
func (d *document) headersTooLarge() member {
	return d.errorResponses([]reason{moderatov1.Reason_REASON_HEADERS_TOO_LARGE}, authz.Rule{})[0]
}

// jsonResponse returns a response with JSON.
func (d *document) jsonResponse(description string, schema object, example any) object {
	content := object{{"schema", schema}}
	if example != nil {
		content = content.with(member{"example", example})
	}
	return object{{"description", description}, {"headers", d.headers("X-Request-Id")}, {"content", object{{"application/json", content}}}}
}

// endpoint describes an endpoint in the API's own spelling, which takes and returns JSON.
type endpoint struct {
	path, id, summary, description, request, response string
	requestExample, example                           object
	errors                                            []reason
}

// ofServer are the errors of an endpoint that needs no token.
var ofServer = []reason{
	moderatov1.Reason_REASON_INVALID_ARGUMENT, moderatov1.Reason_REASON_HEADERS_TOO_LARGE,
	moderatov1.Reason_REASON_INTERNAL, moderatov1.Reason_REASON_UNAVAILABLE,
}

// json returns the operation of an endpoint in the API's own spelling.
func (d *document) json(e endpoint) object {
	return object{
		{"operationId", e.id}, {"summary", e.summary}, {"description", e.description}, {"tags", []string{signInTag}}, {"security", []object{}},
		{"requestBody", object{{"required", true}, {"content", object{{"application/json", object{
			{"schema", ref("schemas", e.request)}, {"example", e.requestExample},
		}}}}}},
		{"responses", append(object{{"200", d.jsonResponse("Success.", ref("schemas", e.response), e.example)}}, d.errorResponses(e.errors, authz.Rule{})...)},
	}
}
