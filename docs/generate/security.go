package main

import (
	"slices"

	"github.com/moderato-live/moderato/gateway/signin"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// Names of the security schemes.
const (
	userToken    = "userToken"
	appToken     = "appToken"
	serviceToken = "serviceToken"
	clientID     = "clientId"
	eventTicket  = "eventTicket"
	clientSecret = "clientSecret"
)

// scopeTexts describe the scopes.
var scopeTexts = map[string]string{
	authn.UsersRead:       "Read the user's data.",
	authn.ChannelModerate: "Moderate, where the user owns or moderates a channel.",
	authn.UsersBot:        "Chat in the user's name.",
	authn.OfflineAccess:   "Get a refresh token.",
}

func securitySchemes() object {
	scopes, ofApps := object{}, object{}
	for _, scope := range authn.Scopes() {
		scopes = append(scopes, member{scope, scopeTexts[scope]})
		if scope != authn.OfflineAccess {
			ofApps = append(ofApps, member{scope, scopeTexts[scope]})
		}
	}
	return object{
		{userToken, object{
			{"type", "oauth2"},
			{"description", "A token of a user, issued to a client. Users sign in with the authorization code flow and PKCE (S256), or with the device flow (RFC 8628), which bots and command lines use."},
			{"flows", object{
				{"authorizationCode", object{
					{"authorizationUrl", signin.AuthorizePath}, {"tokenUrl", signin.TokenPath}, {"refreshUrl", signin.TokenPath}, {"scopes", scopes},
				}},
				{"x-deviceAuthorization", object{
					{"deviceAuthorizationUrl", signin.DevicePath}, {"tokenUrl", signin.TokenPath}, {"refreshUrl", signin.TokenPath}, {"scopes", scopes},
				}},
			}},
		}},
		{appToken, object{
			{"type", "oauth2"},
			{"description", "A token of a client itself. What it may do in a user's name depends on what the user granted to the client."},
			{"flows", object{{"clientCredentials", object{{"tokenUrl", signin.TokenPath}, {"scopes", ofApps}}}}},
		}},
		{serviceToken, object{
			{"type", "http"}, {"scheme", "bearer"},
			{"description", "A token of a backend of the platform. It has every scope. It is accepted wherever an app token is and, with the header `acting-user`, wherever a user token is. An operator issues it."},
		}},
		{clientID, object{
			{"type", "apiKey"}, {"in", "header"}, {"name", authn.ClientIDKey},
			{"description", "The id of the client to which the token was issued. It accompanies every token."},
		}},
		{eventTicket, object{
			{"type", "apiKey"}, {"in", "query"}, {"name", "ticket"},
			{"description", "A ticket that `createEventTicket` returned, with which a browser opens one event stream. It replaces the token and the client id."},
		}},
		{clientSecret, object{
			{"type", "http"}, {"scheme", "basic"},
			{"description", "The id and the secret of a client. They can also be sent as `client_id` and `client_secret` in the form. A public client sends `client_id` alone."},
		}},
	}
}

// securityOf returns the ways in which a caller may identify itself, as a rule declares it.
func securityOf(rule authz.Rule) (ways []object) {
	scopes := []string{}
	if rule.Scope != "" {
		scopes = append(scopes, rule.Scope)
	}
	add := func(scheme string, scopes []string) {
		ways = append(ways, object{{scheme, scopes}, {clientID, []string{}}})
	}
	if slices.Contains(rule.Tokens, authn.User) {
		add(userToken, scopes)
		if rule.AlternativeScope != "" {
			add(userToken, []string{rule.AlternativeScope})
		}
	}
	if slices.Contains(rule.Tokens, authn.App) {
		add(appToken, scopes)
	}
	add(serviceToken, []string{})
	return ways
}
