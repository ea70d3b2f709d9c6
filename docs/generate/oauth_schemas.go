package main

import (
	"slices"

	"github.com/moderato-live/moderato/gateway/signin"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// text returns the schema of a text.
func text(description string) object {
	return object{{"type", "string"}, {"description", description}}
}

func seconds(description string) object {
	return object{{"type", "integer"}, {"format", "int64"}, {"description", description}}
}

func texts(description string) object {
	return object{{"type", "array"}, {"items", object{{"type", "string"}}}, {"description", description}}
}

// record returns the schema of an object, of which all properties but the optional ones are
// required.
func record(description string, properties object, optional ...string) object {
	required := []string{}
	for _, p := range properties {
		if !slices.Contains(optional, p.name) {
			required = append(required, p.name)
		}
	}
	schema := object{{"type", "object"}}
	if description != "" {
		schema = append(schema, member{"description", description})
	}
	schema = append(schema, member{"properties", properties})
	if len(required) > 0 {
		schema = schema.with(member{"required", required})
	}
	return schema
}

// clientFields identify the client in a form.
var clientFields = object{
	{"client_id", text("The client's id, unless it is sent as HTTP Basic.")},
	{"client_secret", text("The client's secret, unless it is sent as HTTP Basic. Public clients have none.")},
}

const (
	exampleToken   = "mdu_3Jq8XcV1sT0wZk5nRb7yLd2fGh9pAe4iUo6xMvCtBzQ"
	exampleRefresh = "mdr_8Tn5yWkE1hZs6bGf9uJo4aRiP7xNtCv3Jq8XcV1sT0w"
)

var forms = []form{
	{
		path: signin.TokenPath, id: "exchangeToken", summary: "Get tokens",
		description: "Exchanges a code, a refresh token, a device code or the client's credentials for tokens (RFC 6749, RFC 8628). Until the user decided about a device, the error is `authorization_pending`; a device that asks too often gets `slow_down`.",
		request: object{
			{"grant_type", object{{"type", "string"}, {"description", "What the client has."}, {"enum", []string{
				"authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code",
			}}}},
			{"code", text("The code, with `authorization_code`.")},
			{"redirect_uri", text("The redirect URI of the request for the code, with `authorization_code`.")},
			{"code_verifier", text("The PKCE verifier, with `authorization_code`.")},
			{"refresh_token", text("The refresh token, with `refresh_token`.")},
			{"device_code", text("The device code, with the device flow.")},
			{"scope", text("Fewer scopes than the client may have, separated by spaces; with `refresh_token` and `client_credentials`.")},
		},
		required: []string{"grant_type"}, response: "OAuthTokens",
		example: object{
			{"access_token", exampleToken}, {"token_type", "Bearer"}, {"refresh_token", exampleRefresh}, {"expires_in", 3600},
			{"scope", "offline.access users.read"},
		},
	},
	{
		path: signin.DevicePath, id: "authorizeDevice", summary: "Begin the device flow",
		description: "Returns a code that a bot or a command line shows to its user, and another with which it asks for the tokens (RFC 8628).",
		request:     object{{"scope", text("The scopes, separated by spaces.")}}, required: []string{"scope"},
		response: "DeviceAuthorization",
		example: object{
			{"device_code", "x5nRb7yLd2fGh9pAe4iUo6xMvCtBzQ3Jq8XcV1sT0wZk"}, {"user_code", "WDJB-MJHT"},
			{"verification_uri", "https://platform.example.com/sign-in"},
			{"verification_uri_complete", "https://platform.example.com/sign-in?user_code=WDJB-MJHT"}, {"expires_in", 600}, {"interval", 5},
		},
	},
	{
		path: signin.RevokePath, id: "revokeToken", summary: "Revoke a token",
		description: "Ends an access token or a refresh token of the client (RFC 7009). An unknown token counts as revoked.",
		request:     object{{"token", text("The token.")}, {"token_type_hint", text("Has no effect.")}}, required: []string{"token"},
	},
	{
		path: signin.IntrospectPath, id: "introspectToken", summary: "Introspect a token",
		description: "Tells a client with a secret what one of its tokens allows (RFC 7662). The client of a backend may ask about any token. Of another token the response says only that it is not active.",
		request:     object{{"token", text("The token.")}, {"token_type_hint", text("Has no effect.")}}, required: []string{"token"},
		response: "Introspection", noPublic: true,
		example: object{
			{"active", true}, {"scope", "users.read"}, {"client_id", "web-app"}, {"token_type", "Bearer"},
			{"exp", 1795179600}, {"iat", 1795176000}, {"sub", exampleChannel},
		},
	},
}

// ofJSONEndpoint are the errors of every endpoint in the API's own spelling.
var ofJSONEndpoint = []reason{
	moderatov1.Reason_REASON_INVALID_ARGUMENT, moderatov1.Reason_REASON_CLIENT_CREDENTIALS_INVALID,
	moderatov1.Reason_REASON_BODY_TOO_LARGE, moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED, moderatov1.Reason_REASON_RATE_LIMITED,
	moderatov1.Reason_REASON_HEADERS_TOO_LARGE, moderatov1.Reason_REASON_INTERNAL, moderatov1.Reason_REASON_UNAVAILABLE,
	moderatov1.Reason_REASON_OVERLOADED, moderatov1.Reason_REASON_DEADLINE_EXCEEDED,
}

// ofAuthorization are the errors of an endpoint that exchanges what the user approved.
var ofAuthorization = slices.Insert(slices.Clone(ofJSONEndpoint), 1, moderatov1.Reason_REASON_AUTHORIZATION_INVALID)

var tokensExample = object{
	{"accessToken", exampleToken}, {"refreshToken", exampleRefresh}, {"tokenType", "Bearer"}, {"expiresIn", 3600},
	{"scopes", []string{"offline.access", "users.read"}}, {"type", "user"}, {"userId", exampleViewer},
}

var jsonEndpoints = []endpoint{
	{
		path: "/bapi/oauth2/generate-auth-url", id: "generateAuthUrl", summary: "Generate an authorization URL",
		description: "Returns the URL to which the client sends the user's browser, with the state and the PKCE verifier that the client keeps until the user returns. The server stores nothing.",
		request:     "GenerateAuthUrlRequest", response: "GenerateAuthUrlResponse", errors: ofJSONEndpoint,
		requestExample: object{{"clientId", "web-app"}, {"clientSecret", "…"}, {"redirectUri", "https://app.example.com/callback"}, {"scopes", []string{"users.read"}}},
		example: object{
			{"url", "https://moderato.example.com/oauth2/authorize?client_id=web-app&code_challenge=…&code_challenge_method=S256&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback&response_type=code&scope=users.read&state=…"},
			{"state", "K7QWZ2M5XN4RB6TD"}, {"codeVerifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
		},
	},
	{
		path: "/bapi/oauth2/token", id: "exchangeCode", summary: "Exchange a code",
		description: "Exchanges the code with which the user returned, or the client's credentials, for tokens.",
		request:     "ExchangeCodeRequest", response: "TokensResponse", errors: ofAuthorization,
		requestExample: object{
			{"clientId", "web-app"}, {"clientSecret", "…"}, {"code", "…"}, {"codeVerifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
			{"redirectUri", "https://app.example.com/callback"},
		},
		example: tokensExample,
	},
	{
		path: "/bapi/oauth2/refresh", id: "refreshTokens", summary: "Refresh tokens",
		description: "Exchanges a refresh token for new tokens.",
		request:     "RefreshTokensRequest", response: "TokensResponse", errors: ofAuthorization,
		requestExample: object{{"clientId", "web-app"}, {"clientSecret", "…"}, {"refreshToken", exampleRefresh}},
		example:        tokensExample,
	},
}

// scopesField accepts scopes as an array or as one text.
var scopesField = object{
	{"anyOf", []object{{{"type", "array"}, {"items", object{{"type", "string"}}}}, {{"type", "string"}}, {{"type", "null"}}}},
	{"description", "The scopes: an array, or one string with spaces."},
}

var signInSchemas = map[string]object{
	"OAuthTokens": record("Tokens (RFC 6749).", object{
		{"access_token", text("The access token.")}, {"token_type", object{{"type", "string"}, {"const", "Bearer"}}},
		{"refresh_token", text("The refresh token, if the scopes include `offline.access`.")},
		{"expires_in", seconds("The lifetime of the access token, in seconds.")}, {"scope", text("The scopes, separated by spaces.")},
	}, "refresh_token"),
	"OAuthError": record("An error of OAuth (RFC 6749).", object{
		{"error", object{{"type", "string"}, {"description", "What is wrong."}, {"enum", []string{
			"invalid_request", "invalid_client", "invalid_grant", "invalid_scope", "unauthorized_client", "unsupported_grant_type",
			"access_denied", "authorization_pending", "slow_down", "expired_token", "server_error", "temporarily_unavailable",
		}}}},
		{"error_description", text("What is wrong, for a person.")},
	}, "error_description"),
	"DeviceAuthorization": record("What a device needs (RFC 8628).", object{
		{"device_code", text("The code with which the device asks for tokens.")}, {"user_code", text("The code that the user enters.")},
		{"verification_uri", text("Where the user enters it.")}, {"verification_uri_complete", text("The same, with the code.")},
		{"expires_in", seconds("The lifetime of the codes, in seconds.")}, {"interval", seconds("The seconds between two requests for tokens.")},
	}),
	"Introspection": record("What a token allows (RFC 7662).", object{
		{"active", object{{"type", "boolean"}, {"description", "Whether the token is valid. If not, there is nothing else."}}},
		{"scope", text("The scopes, separated by spaces.")}, {"client_id", text("The client's id.")},
		{"token_type", text("The type of the token.")}, {"exp", seconds("When it expires, in Unix seconds.")},
		{"iat", seconds("When it was issued, in Unix seconds.")}, {"sub", text("The user's id, or that of the client.")},
	}, "scope", "client_id", "token_type", "exp", "iat", "sub"),
	"AuthorizationServerMetadata": record("The authorization server (RFC 8414).", object{
		{"issuer", text("The URL of the server, as the client called it.")},
		{"authorization_endpoint", text("The URL of the authorization endpoint.")}, {"token_endpoint", text("The URL of the token endpoint.")},
		{"introspection_endpoint", text("The URL of the introspection endpoint.")}, {"revocation_endpoint", text("The URL of the revocation endpoint.")},
		{"device_authorization_endpoint", text("The URL of the device authorization endpoint.")},
		{"scopes_supported", texts("The scopes.")}, {"response_types_supported", texts("Only `code`.")}, {"response_modes_supported", texts("Only `query`.")},
		{"grant_types_supported", texts("The grant types.")}, {"code_challenge_methods_supported", texts("Only `S256`.")},
		{"token_endpoint_auth_methods_supported", texts("How clients authenticate at the token endpoint.")},
		{"revocation_endpoint_auth_methods_supported", texts("How clients authenticate at the revocation endpoint.")},
		{"introspection_endpoint_auth_methods_supported", texts("How clients authenticate at the introspection endpoint.")},
		{"request_uri_parameter_supported", object{{"type", "boolean"}, {"description", "Always false."}}},
		{"authorization_response_iss_parameter_supported", object{{"type", "boolean"}, {"description", "Always true: responses have `iss`, as in RFC 9207."}}},
	}),
	"GenerateAuthUrlRequest": record("GenerateAuthUrlRequest describes the sign-in.", object{
		{"clientId", text("The client's id.")}, {"clientSecret", nullable(text("The client's secret. Public clients have none."))},
		{"redirectUri", text("Where the browser returns to: one of the client's redirect URIs.")},
		{"scopes", object{scopesField[0], {"description", "The scopes: an array, or one string with spaces. All scopes that the client may have when there are none."}}},
	}, "clientSecret", "scopes"),
	"GenerateAuthUrlResponse": record("GenerateAuthUrlResponse begins a sign-in.", object{
		{"url", text("Where the client sends the user's browser.")},
		{"state", text("The `state` with which the user must return.")},
		{"codeVerifier", text("The PKCE verifier, for the exchange of the code.")},
	}),
	"ExchangeCodeRequest": record("ExchangeCodeRequest is the code with which the user returned; or, with `grantType` `client_credentials`, only the client.", object{
		{"clientId", text("The client's id.")}, {"clientSecret", nullable(text("The client's secret. Public clients have none."))},
		{"grantType", nullable(object{{"type", "string"}, {"description", "`authorization_code` if there is a `code`."}})},
		{"code", nullable(text("The code."))}, {"codeVerifier", nullable(text("The PKCE verifier."))},
		{"redirectUri", nullable(text("The redirect URI of the request for the code."))}, {"scopes", scopesField},
	}, "clientSecret", "grantType", "code", "codeVerifier", "redirectUri", "scopes"),
	"RefreshTokensRequest": record("RefreshTokensRequest is the refresh token.", object{
		{"clientId", text("The client's id.")}, {"clientSecret", nullable(text("The client's secret. Public clients have none."))},
		{"refreshToken", text("The refresh token.")}, {"scopes", scopesField},
	}, "clientSecret", "scopes"),
	"TokensResponse": record("TokensResponse holds tokens.", object{
		{"accessToken", text("The access token.")}, {"refreshToken", text("The refresh token, if the scopes include `offline.access`.")},
		{"tokenType", object{{"type", "string"}, {"const", "Bearer"}}}, {"expiresIn", seconds("The lifetime of the access token, in seconds.")}, {"scopes", texts("The scopes.")},
		{"type", object{{"type", "string"}, {"enum", []string{"user", "app"}}, {"description", "Whose tokens they are."}}},
		{"userId", text("The user's id; not there for an app.")},
	}, "refreshToken", "userId"),
}
