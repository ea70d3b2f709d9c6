package experiments_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/requestid"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/test/servertest"
)

// kind is what an operation does.
type kind string

const (
	ban             kind = "ban"
	unban           kind = "unban"
	mute            kind = "mute"
	unmute          kind = "unmute"
	addModerator    kind = "add moderator"
	removeModerator kind = "remove moderator"
	follow          kind = "follow"
	unfollow        kind = "unfollow"
	message         kind = "post"
)

// eventsOf are the events of each kind of operation, in their order. A message has none.
var eventsOf = map[kind]string{
	ban:             "channel.ban channel.chat.clear_user_messages",
	unban:           "channel.unban",
	mute:            "channel.mute channel.chat.clear_user_messages",
	unmute:          "channel.unmute",
	addModerator:    "channel.moderator.add",
	removeModerator: "channel.moderator.remove",
	follow:          "channel.follow",
	unfollow:        "channel.unfollow",
	message:         "",
}

// moderation has the REST operation of the kinds that dashboards call, and the field that
// names the user. The other kinds are calls of the platform over gRPC.
var moderation = map[kind]struct{ method, path, field, more string }{
	ban:             {http.MethodPost, "ban", "banUserId", ""},
	unban:           {http.MethodDelete, "ban", "banUserId", ""},
	mute:            {http.MethodPost, "mute", "mutedUserId", `,"durationSeconds":1209600`},
	unmute:          {http.MethodDelete, "mute", "mutedUserId", ""},
	addModerator:    {http.MethodPost, "moderators", "userId", ""},
	removeModerator: {http.MethodDelete, "moderators", "userId", ""},
}

// clientTimeout is longer than any call may take, so that a client sees a server that
// exceeds the deadline of its calls.
const clientTimeout = 25 * time.Second

// client sends operations to a site.
type client struct {
	*site

	http *http.Client
}

func newClient(s *site) *client {
	return &client{s, &http.Client{Timeout: clientTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}}
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Codes that no server sends.
const (
	// noResponse is the code of a call that the server did not answer.
	noResponse = "NO_RESPONSE"
	// malformed is the code of a response that is not as documented.
	malformed = "MALFORMED"
)

// do sends an operation, and returns the code of the response: OK, the code of an error,
// noResponse, or malformed. With a key it can be repeated.
func (c *client) do(ctx context.Context, o operation, withKey bool) (code, text string) {
	if call, ok := moderation[o.Kind]; ok {
		body := `{"channelId":"` + o.Channel.String() + `","` + call.field + `":"` + o.User.String() + `"` + call.more + `}`
		return c.rest(ctx, c.owners[o.Channel], call.method, "/v1/moderation/"+call.path, body, o.ID, withKey)
	}
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	md, _ := metadata.FromOutgoingContext(c.backend.Context())
	md.Set(requestid.MetadataKey, o.ID)
	if withKey {
		md.Set(idempotency.MetadataKey, o.ID)
	}
	err := c.call(metadata.NewOutgoingContext(ctx, md), o)
	if err == nil {
		return "OK", ""
	}
	return reasonOf(err), err.Error()
}

// reasonOf returns the code of an error over gRPC. An error of the transport or the balancer
// has none.
func reasonOf(err error) string {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	switch s.Code() {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return noResponse
	case codes.Internal:
		// The balancer ends a stream in this way if its server dies within a response.
		if strings.Contains(s.Message(), "RST_STREAM") {
			return noResponse
		}
	}
	return malformed
}

func (c *client) call(ctx context.Context, o operation) (err error) {
	audience := platformv1.NewAudienceServiceClient(c.conn)
	switch o.Kind {
	case follow:
		_, err = audience.Follow(ctx, &platformv1.FollowRequest{ChannelId: o.Channel.String(), UserId: o.User.String()})
	case unfollow:
		_, err = audience.Unfollow(ctx, &platformv1.UnfollowRequest{ChannelId: o.Channel.String(), UserId: o.User.String()})
	case message:
		_, err = platformv1.NewChatServiceClient(c.conn).PostMessage(ctx, &platformv1.PostMessageRequest{
			ChannelId: o.Channel.String(), UserId: o.User.String(), Text: "hello", MessageId: o.ID,
		})
	default:
		err = errors.New("unknown kind " + string(o.Kind))
	}
	return err
}

// rest sends a request over REST, and returns the code and the text of the response.
func (c *client) rest(ctx context.Context, as servertest.Credentials, method, path, body, id string, withKey bool) (code, text string) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.REST+path, strings.NewReader(body))
	if err != nil {
		return err.Error(), ""
	}
	r.Header.Set("Authorization", "Bearer "+as.Token)
	r.Header.Set("client-id", as.ClientID)
	r.Header.Set("content-type", "application/json")
	r.Header.Set(requestid.Header, id)
	if withKey {
		r.Header.Set(idempotency.MetadataKey, id)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return noResponse, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return noResponse, err.Error()
	}
	if response.StatusCode == http.StatusOK {
		return "OK", string(answer)
	}
	var failed struct{ Data struct{ Code string } }
	text = response.Status + " " + string(answer)
	if json.Unmarshal(answer, &failed) != nil || failed.Data.Code == "" {
		if response.StatusCode == http.StatusBadGateway { // the balancer says so
			return noResponse, text
		}
		return malformed, text
	}
	if failed.Data.Code == "UNAVAILABLE" && response.Header.Get("Retry-After") == "" {
		return malformed, "no Retry-After: " + text
	}
	return failed.Data.Code, text
}

// outcomeOf returns what a response says about the operation; ok is false for a response
// that no experiment may cause.
func outcomeOf(code string) (o outcome, ok bool) {
	switch code {
	case "OK":
		return done, true
	case "OVERLOADED", "IDEMPOTENCY_KEY_IN_USE":
		return refused, true
	case noResponse, "UNAVAILABLE", "DEADLINE_EXCEEDED":
		return unknown, true
	case malformed, "INTERNAL":
		return unknown, false
	}
	return refused, false
}
