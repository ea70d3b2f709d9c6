package demo

import (
	"crypto/rand"
	"io"
	"net"
	"text/template"

	"golang.org/x/oauth2"

	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Addresses are the addresses on which the server listens.
type Addresses struct {
	REST, GRPC, Admin string
	// Console is the URL of the console.
	Console string
}

var tour = template.Must(template.New("tour").Parse(`
Console: {{.Console}}

Moderato serves the demo. Its tokens are for play; each start issues new ones.

  docs    http://{{.REST}}/docs
  REST    http://{{.REST}}/v1
  gRPC    {{.GRPC}}
  admin   http://{{.Admin}}  (/healthz /readyz /metrics)

  client     {{.Cast.Client}}
  owner      {{.Tokens.Owner}}  {{.Cast.Owner.DisplayName}}
  moderator  {{.Tokens.Moderator}}  {{.Cast.Moderator.DisplayName}}
  viewer     {{.Tokens.Viewer}}  {{.Cast.Viewer.DisplayName}}
  app        {{.Tokens.App}}
  service    {{.Tokens.Service}}  (client {{.Cast.ServiceClient}})

Sign in as one of them; the page then shows a code, which works for a minute:

{{.SignIn}}

Exchange the code for tokens (the command asks for it):

printf 'code: '; read -r code; curl -s -X POST http://{{.REST}}/bapi/oauth2/token -H 'content-type: application/json' -d '{"clientId":"{{.Cast.Client}}","redirectUri":"{{.Callback}}","codeVerifier":"{{.Verifier}}","code":"'"$code"'"}'

Who moderates {{.Cast.Owner.DisplayName}}'s channel:

curl -s 'http://{{.REST}}/v1/moderation/moderators?channelId={{.Cast.Owner.ID}}' -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.App}}'

Ban a raider by name, as a moderator; their messages are gone:

curl -s -X POST http://{{.REST}}/v1/moderation/ban -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.Moderator}}' -H 'content-type: application/json' -d '{"channelId":"{{.Cast.Owner.ID}}","banUsername":"{{.Cast.Raider.Username}}"}'

Let them back in:

curl -s -X DELETE http://{{.REST}}/v1/moderation/ban -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.Moderator}}' -H 'content-type: application/json' -d '{"channelId":"{{.Cast.Owner.ID}}","banUsername":"{{.Cast.Raider.Username}}"}'

What is live, who followed lately, and the most viewed clips:

curl -s 'http://{{.REST}}/v1/channels?type=live&limit=3' -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.App}}'
curl -s 'http://{{.REST}}/v1/channels/followers?limit=3' -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.Owner}}'
curl -s 'http://{{.REST}}/v1/channels/clips?channelId={{.Cast.Owner.ID}}&limit=3' -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.App}}'
curl -s 'http://{{.REST}}/v1/channels/votes?channelId={{.Cast.Owner.ID}}&epoch=42' -H 'client-id: {{.Cast.Client}}' -H 'Authorization: Bearer {{.Tokens.App}}'

What a chat server asks when somebody joins (in the project's directory; the first call builds grpcurl, which takes a minute):

go tool -modfile=tools/go.mod grpcurl -plaintext -emit-defaults -H 'client-id: {{.Cast.ServiceClient}}' -H 'authorization: Bearer {{.Tokens.Service}}' -d '{"channelId":"{{.Cast.Owner.ID}}","userId":"{{.Cast.Raider.ID}}"}' {{.GRPC}} moderato.platform.v1.ChatService/GetStanding

Write a bot, with the documentation at http://{{.REST}}/docs

`))

// WriteTour prints the addresses and tokens of the demo, and commands that can be
// pasted.
func WriteTour(w io.Writer, a Addresses, t Tokens) {
	verifier := oauth2.GenerateVerifier()
	callback := a.callback()
	_ = tour.Execute(w, struct {
		Addresses
		Tokens                     Tokens
		Cast                       Cast
		SignIn, Callback, Verifier string
	}{a, t, People(), a.signIn(callback, verifier), callback, verifier})
}

// callback returns where the demo's client returns to from a sign-in.
func (a Addresses) callback() string {
	_, port, _ := net.SplitHostPort(a.REST)
	return "http://127.0.0.1:" + port + SignedInPath
}

// signIn returns a URL that begins a sign-in.
func (a Addresses) signIn(callback, verifier string) string {
	c := oauth2.Config{
		ClientID: People().Client, RedirectURL: callback, Scopes: []string{authn.UsersRead, authn.ChannelModerate, authn.OfflineAccess},
		Endpoint: oauth2.Endpoint{AuthURL: "http://" + a.REST + "/oauth2/authorize"},
	}
	return c.AuthCodeURL(rand.Text(), oauth2.S256ChallengeOption(verifier))
}
