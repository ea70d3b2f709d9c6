package requests_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/test/servertest"
)

// fail keeps the text of an error, without what the caller wrote itself.
func (x *exposure) fail(where, text string) {
	x.bad++
	for _, own := range x.echoed {
		text = strings.ReplaceAll(text, own, "")
	}
	x.texts[where] += text + "\n"
}

// readHeader keeps the header of a response. A redirect has secrets in its address on purpose.
func (x *exposure) readHeader(response *http.Response) {
	header := response.Header.Clone()
	if response.StatusCode/100 == 3 {
		header.Del("Location")
	}
	var text strings.Builder
	_ = header.Write(&text)
	x.texts["headers"] += text.String()
}

// misplace sends tokens in places where they do not belong.
func (x *exposure) misplace(t *testing.T, all ...servertest.Credentials) {
	t.Helper()
	for _, c := range all {
		x.everything(t, c)
		x.echoed = []string{c.Token, c.Token[:20]}
		for _, path := range []string{"/v1/" + c.Token, "/v1/channels?slug[]=" + c.Token, "/v1/channels?access_token=" + c.Token, "/v1/channels/stats?channelId=" + c.Token} {
			x.call(t, c, http.MethodGet, path, "")
		}
		x.call(t, c, http.MethodPost, "/v1/moderation/ban", `{"channelId":"`+c.Token+`","banUsername":"`+c.Token+`"}`)
		x.call(t, c, http.MethodPost, "/v1/moderation/ban", `{"`+c.Token+`":1,"`+c.Token[:20]+`":2}`)
		names := []string{"client-id", "acting-user", "Authorization", "Cookie", "X-Request-Id", "Idempotency-Key", "User-Agent", "traceparent", "Last-Event-ID"}
		for _, name := range names {
			x.call(t, c, http.MethodGet, "/v1/channels", "", name, c.Token)
			x.overGRPC(t, c, servertest.Owner.String(), name, c.Token)
		}
		x.overGRPC(t, c, c.Token)
		x.echoed = nil
	}
}

// everything makes calls of all kinds.
func (x *exposure) everything(t *testing.T, c servertest.Credentials) {
	t.Helper()
	channel := servertest.Owner.String()
	for _, call := range []struct{ method, path, body string }{
		{"GET", "/v1/channels", ""}, {"GET", "/v1/channels/stats?channelId=" + channel, ""}, {"GET", "/v1/tokens/self", ""}, {"GET", "/v1/webhooks", ""},
		{"GET", "/v1/channels/roles/mods?channelId=" + channel, ""}, {"GET", "/v1/moderation/log?channelId=" + channel, ""}, {"GET", "/nowhere", ""},
		{"GET", "/v1/channels?cursor=damaged", ""}, {"PUT", "/v1/channels", ""}, {"POST", "/v1/moderation/ban", "{"},
		{"POST", "/v1/moderation/ban", `{"channelId":"` + channel + `","banUsername":"lootgoblin77"}`},
		{"DELETE", "/v1/moderation/ban", `{"channelId":"` + channel + `","banUsername":"lootgoblin77"}`},
	} {
		x.call(t, c, call.method, call.path, call.body)
	}
	x.overGRPC(t, c, channel)
	x.overGRPC(t, c, "damaged")
}

// overGRPC makes calls about a channel over gRPC, and keeps their errors and metadata.
func (x *exposure) overGRPC(t *testing.T, c servertest.Credentials, channel string, more ...string) {
	t.Helper()
	conn, err := grpc.NewClient(x.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	md, _ := metadata.FromOutgoingContext(c.Context())
	for i := 0; i < len(more); i += 2 {
		md.Set(more[i], more[i+1])
	}
	ctx := metadata.NewOutgoingContext(t.Context(), md)
	for _, call := range []func(context.Context, ...grpc.CallOption) error{
		func(ctx context.Context, options ...grpc.CallOption) error {
			_, err := platformv1.NewChatServiceClient(conn).GetStanding(ctx, &platformv1.GetStandingRequest{ChannelId: channel, UserId: channel}, options...)
			return err
		},
		func(ctx context.Context, options ...grpc.CallOption) error {
			_, err := platformv1.NewChatServiceClient(conn).PostMessage(ctx, &platformv1.PostMessageRequest{ChannelId: channel, UserId: channel, Text: canary("Message")}, options...)
			return err
		},
		func(ctx context.Context, options ...grpc.CallOption) error {
			_, err := moderatov1.NewModerationServiceClient(conn).ListLog(ctx, &moderatov1.ListLogRequest{ChannelId: channel, Cursor: channel}, options...)
			return err
		},
		func(ctx context.Context, options ...grpc.CallOption) error {
			_, err := moderatov1.NewChannelsServiceClient(conn).ListMods(ctx, &moderatov1.ListModsRequest{ChannelId: channel}, options...)
			return err
		},
	} {
		var header, trailer metadata.MD
		err := call(ctx, grpc.Header(&header), grpc.Trailer(&trailer))
		if err != nil {
			x.fail("errors over gRPC", prototext.Format(status.Convert(err).Proto()))
		}
		delete(trailer, "grpc-status-details-bin") // the error, which was read
		for _, md := range []metadata.MD{header, trailer} {
			for name, values := range md {
				x.texts["metadata over gRPC"] += name + ": " + strings.Join(values, ", ") + "\n"
			}
		}
	}
}
