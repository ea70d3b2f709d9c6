package chat_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// chatRefusal is the complete error of a rejected call of ChatService.
type chatRefusal struct {
	code       codes.Code
	reason     string
	message    string      // empty: the text of the only violation
	violations [][2]string // field and description
	metadata   map[string]string
	retryAfter time.Duration
}

var (
	chatUnknownChannel = chatRefusal{code: codes.InvalidArgument, reason: "CHANNEL_NOT_FOUND", message: "There is no channel with this id; the id of a channel is the user id of its owner."}
	chatUnknownUser    = chatRefusal{code: codes.InvalidArgument, reason: "USER_NOT_FOUND", message: "There is no such user; check the id or the username."}
	chatBadCursor      = chatRefusal{
		code: codes.InvalidArgument, reason: "CURSOR_INVALID",
		message: "The cursor is damaged, belongs to another list, or is too old. Start again without a cursor.",
	}
	chatBanned    = chatRefusal{code: codes.FailedPrecondition, reason: "USER_BANNED", message: "The user is banned from this channel; its owner and moderators can remove the ban."}
	chatWrongKind = chatRefusal{
		code: codes.PermissionDenied, reason: "TOKEN_KIND_NOT_ACCEPTED", metadata: map[string]string{"acceptedTokens": "service"},
		message: "This operation does not accept this kind of token. It accepts: service.",
	}
	chatNoToken = chatRefusal{
		code: codes.Unauthenticated, reason: "TOKEN_MISSING",
		message: "An access token is required: send the header Authorization: Bearer <token>.",
	}
	chatBadToken = chatRefusal{
		code: codes.Unauthenticated, reason: "TOKEN_INVALID",
		message: "The access token is not valid: it is damaged, unknown or revoked. Get a new one.",
	}
	chatOldToken = chatRefusal{code: codes.Unauthenticated, reason: "TOKEN_EXPIRED", message: "The access token has expired. Get a new one."}
	chatNoClient = chatRefusal{
		code: codes.Unauthenticated, reason: "CLIENT_ID_MISSING", message: "A client id is required: send the header client-id.",
	}
	chatOtherClient = chatRefusal{
		code: codes.Unauthenticated, reason: "CLIENT_ID_MISMATCH",
		message: "The access token was issued to another client than the one in client-id: send the id of the token's own client.",
	}
)

const chatNotUUID = "must be a UUID in its 36-character form"

func chatInvalid(violations ...[2]string) chatRefusal {
	r := chatRefusal{code: codes.InvalidArgument, reason: "INVALID_ARGUMENT", violations: violations}
	r.message = violations[0][0] + " " + violations[0][1] + "."
	if more := len(violations) - 1; more == 1 {
		r.message += " There is 1 more violation."
	} else if more > 1 {
		r.message += fmt.Sprintf(" There are %d more violations.", more)
	}
	return r
}

// check makes a call and compares its complete error.
func (r chatRefusal) check(t *testing.T, s *servertest.Server, caller metadata.MD, request proto.Message) {
	t.Helper()
	id := uid.New().String()
	ctx := metadata.NewOutgoingContext(context.Background(), metadata.Join(caller, metadata.Pairs("x-request-id", id)))
	var header metadata.MD
	var err error
	switch request := request.(type) {
	case *platformv1.PostMessageRequest:
		_, err = s.Chat.PostMessage(ctx, request, grpc.Header(&header))
	case *platformv1.ListMessagesRequest:
		_, err = s.Chat.ListMessages(ctx, request, grpc.Header(&header))
	case *platformv1.GetStandingRequest:
		_, err = s.Chat.GetStanding(ctx, request, grpc.Header(&header))
	}
	got := status.Convert(err)
	if got.Code() != r.code || got.Message() != r.message {
		t.Errorf("%T: got %s %q, want %s %q", request, got.Code(), got.Message(), r.code, r.message)
	}
	want := []proto.Message{
		&errdetails.ErrorInfo{Reason: r.reason, Domain: "moderato", Metadata: r.metadata},
		&errdetails.RequestInfo{RequestId: id},
		&errdetails.Help{Links: []*errdetails.Help_Link{{Description: "What to do next", Url: "/docs/errors#" + r.reason}}},
	}
	if len(r.violations) > 0 {
		bad := &errdetails.BadRequest{}
		for _, v := range r.violations {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v[0], Description: v[1]})
		}
		want = append(want, bad)
	}
	if r.retryAfter > 0 {
		want = append(want, &errdetails.RetryInfo{RetryDelay: durationpb.New(r.retryAfter)})
	}
	same := slices.EqualFunc(got.Details(), want, func(g any, w proto.Message) bool {
		m, ok := g.(proto.Message)
		return ok && proto.Equal(m, w)
	})
	if !same {
		t.Errorf("%T: got details %v, want %v", request, got.Details(), want)
	}
	if g := header.Get("x-request-id"); !slices.Equal(g, []string{id}) {
		t.Errorf("%T: got x-request-id %q, want %q", request, g, id)
	}
}

// chatCase is a row of a table of refusals.
type chatCase struct {
	name    string
	request proto.Message
	want    chatRefusal
}

func chatMD(c servertest.Credentials) metadata.MD {
	md, _ := metadata.FromOutgoingContext(c.Context())
	return md
}

// chatPost returns a valid post by Raider in Owner's channel.
func chatPost() *platformv1.PostMessageRequest {
	return &platformv1.PostMessageRequest{ChannelId: servertest.Owner.String(), UserId: servertest.Raider.String(), Text: "gg"}
}

// chatRequests returns a valid call of each method.
func chatRequests() []proto.Message {
	owner, raider := servertest.Owner.String(), servertest.Raider.String()
	return []proto.Message{
		chatPost(),
		&platformv1.ListMessagesRequest{ChannelId: owner},
		&platformv1.GetStandingRequest{ChannelId: owner, UserId: raider},
	}
}

// chatStored returns the text of each message in the database.
func chatStored(t *testing.T, s *servertest.Server) (texts []string) {
	t.Helper()
	for _, m := range storetest.Must(s.Store.Read.Message.Query().All(context.Background())) {
		texts = append(texts, m.Text)
	}
	return texts
}
