package demo

import (
	"io"
	"text/template"
)

// Addresses are the addresses on which the server listens.
type Addresses struct{ REST, GRPC, Admin string }

var tour = template.Must(template.New("tour").Parse(`
Moderato serves the demo. Its tokens are for play; each start issues new ones.

  REST    http://{{.REST}}/v1
  gRPC    {{.GRPC}}
  admin   http://{{.Admin}}  (/healthz /readyz /metrics)

  client     {{.Cast.Client}}
  owner      {{.Tokens.Owner}}  {{.Cast.Owner.DisplayName}}
  moderator  {{.Tokens.Moderator}}  {{.Cast.Moderator.DisplayName}}
  viewer     {{.Tokens.Viewer}}  {{.Cast.Viewer.DisplayName}}
  app        {{.Tokens.App}}
  service    {{.Tokens.Service}}  (client {{.Cast.ServiceClient}})

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

`))

// WriteTour prints the addresses and tokens of the demo, and commands that can be
// pasted.
func WriteTour(w io.Writer, a Addresses, t Tokens) {
	_ = tour.Execute(w, struct {
		Addresses
		Tokens Tokens
		Cast   Cast
	}{a, t, People()})
}
