package fault

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// condition is one row of the error table: how a reason looks on both faces.
type condition struct {
	http    int
	code    codes.Code
	message string
}

// conditions is the one table that maps a reason to a status on each face. The
// message is for a person, and says what to do next; {name} is the metadata of
// that name.
var conditions = map[moderatov1.Reason]condition{
	moderatov1.Reason_REASON_TOKEN_MISSING:           {http.StatusUnauthorized, codes.Unauthenticated, "An access token is required: send the header Authorization: Bearer <token>."},
	moderatov1.Reason_REASON_TOKEN_INVALID:           {http.StatusUnauthorized, codes.Unauthenticated, "The access token is not valid: it is damaged, unknown or revoked. Get a new one."},
	moderatov1.Reason_REASON_TOKEN_EXPIRED:           {http.StatusUnauthorized, codes.Unauthenticated, "The access token has expired. Get a new one."},
	moderatov1.Reason_REASON_CLIENT_ID_MISSING:       {http.StatusUnauthorized, codes.Unauthenticated, "A client id is required: send the header client-id."},
	moderatov1.Reason_REASON_CLIENT_ID_MISMATCH:      {http.StatusUnauthorized, codes.Unauthenticated, "The access token was issued to another client than the one in client-id."},
	moderatov1.Reason_REASON_TOKEN_KIND_NOT_ACCEPTED: {http.StatusForbidden, codes.PermissionDenied, "This operation does not accept this kind of token, but these: {acceptedTokens}."},
	moderatov1.Reason_REASON_SCOPE_MISSING:           {http.StatusForbidden, codes.PermissionDenied, "The access token lacks the scope {requiredScope}."},
	moderatov1.Reason_REASON_GRANT_MISSING:           {http.StatusForbidden, codes.PermissionDenied, "The user has not granted the scope {requiredScope} to this client."},
	moderatov1.Reason_REASON_NOT_CHANNEL_OWNER:       {http.StatusForbidden, codes.PermissionDenied, "Only the owner of the channel may do this."},
	moderatov1.Reason_REASON_NOT_CHANNEL_MODERATOR:   {http.StatusForbidden, codes.PermissionDenied, "Only the owner of the channel or one of its moderators may do this."},
	moderatov1.Reason_REASON_NOT_SELF:                {http.StatusForbidden, codes.PermissionDenied, "A user token may read only its own user's data here."},
	moderatov1.Reason_REASON_INVALID_ARGUMENT:        {http.StatusBadRequest, codes.InvalidArgument, "The request is not valid; violations names each field that is wrong."},
	moderatov1.Reason_REASON_CHANNEL_NOT_FOUND:       {http.StatusBadRequest, codes.InvalidArgument, "There is no channel with this id."},
	moderatov1.Reason_REASON_USER_NOT_FOUND:          {http.StatusBadRequest, codes.InvalidArgument, "There is no such user."},
	moderatov1.Reason_REASON_CATEGORY_NOT_FOUND:      {http.StatusBadRequest, codes.InvalidArgument, "There is no category with this id."},
	moderatov1.Reason_REASON_CURSOR_INVALID:          {http.StatusBadRequest, codes.InvalidArgument, "The cursor is damaged, belongs to another list, or is too old. Start again without a cursor."},
	moderatov1.Reason_REASON_TARGET_IS_CHANNEL:       {http.StatusBadRequest, codes.InvalidArgument, "This cannot be done to the owner of the channel."},
	moderatov1.Reason_REASON_RESULT_TOO_LARGE:        {http.StatusBadRequest, codes.InvalidArgument, "The list is too long to be returned at once; request it in pages, with limit and cursor."},
	moderatov1.Reason_REASON_NOT_BANNED:              {http.StatusNotFound, codes.NotFound, "The user is not banned in this channel."},
	moderatov1.Reason_REASON_MUTE_ACTIVE:             {http.StatusConflict, codes.AlreadyExists, "The user is muted already; the mute ends at muteExpiresAt."},
	moderatov1.Reason_REASON_USER_BANNED:             {http.StatusConflict, codes.FailedPrecondition, "The user is banned from this channel."},
	moderatov1.Reason_REASON_USER_MUTED:              {http.StatusConflict, codes.FailedPrecondition, "The user is muted in this channel until muteExpiresAt."},
	moderatov1.Reason_REASON_USERNAME_TAKEN:          {http.StatusConflict, codes.AlreadyExists, "Another user has this username."},
	moderatov1.Reason_REASON_CLIENT_NOT_FOUND:        {http.StatusBadRequest, codes.InvalidArgument, "There is no client with this id."},
	moderatov1.Reason_REASON_CATEGORY_IN_USE:         {http.StatusConflict, codes.FailedPrecondition, "There are channels, streams, clips, VODs or categories in this category; put them elsewhere first."},
	moderatov1.Reason_REASON_CHANNEL_NOT_LIVE:        {http.StatusConflict, codes.FailedPrecondition, "The channel has no live stream."},
	moderatov1.Reason_REASON_NOT_FOLLOWING:           {http.StatusConflict, codes.FailedPrecondition, "The user does not follow this channel."},
	moderatov1.Reason_REASON_BEING_DELETED:           {http.StatusConflict, codes.FailedPrecondition, "What had this id is being deleted. The id is free again when the last trace is gone; try again in a few minutes."},
	moderatov1.Reason_REASON_WATCHER_TOO_SLOW:        {http.StatusServiceUnavailable, codes.ResourceExhausted, "The listener did not keep up with the events. Go on with the cursor of the last one that was handled."},
	moderatov1.Reason_REASON_WEBHOOK_NOT_FOUND:       {http.StatusNotFound, codes.NotFound, "There is no such webhook."},
	moderatov1.Reason_REASON_WEBHOOK_LIMIT_REACHED:   {http.StatusConflict, codes.FailedPrecondition, "The channel has as many webhooks as it may have; delete one first."},
	moderatov1.Reason_REASON_WEBHOOK_DISABLED:        {http.StatusConflict, codes.FailedPrecondition, "The webhook is disabled; enable it first."},
	moderatov1.Reason_REASON_EVENT_NOT_FOUND:         {http.StatusNotFound, codes.NotFound, "There is no such event among those that this webhook sends and that are still kept."},
	moderatov1.Reason_REASON_OVERLOADED:              {http.StatusServiceUnavailable, codes.Unavailable, "The server has too much to do at the moment. Nothing was done; try again after the time in Retry-After."},
	moderatov1.Reason_REASON_STREAM_LIMIT_REACHED:    {http.StatusTooManyRequests, codes.ResourceExhausted, "You have as many event streams open as you may have; close one first."},
	moderatov1.Reason_REASON_PATH_NOT_FOUND:          {http.StatusNotFound, codes.NotFound, "Nothing is served at this path."},
	moderatov1.Reason_REASON_METHOD_NOT_ALLOWED:      {http.StatusMethodNotAllowed, codes.Unimplemented, "This path does not take this method; the header Allow lists those it does."},
	moderatov1.Reason_REASON_BODY_TOO_LARGE:          {http.StatusRequestEntityTooLarge, codes.InvalidArgument, "The request body is larger than 64 KiB."},
	moderatov1.Reason_REASON_MEDIA_TYPE_UNSUPPORTED:  {http.StatusUnsupportedMediaType, codes.InvalidArgument, "The request body must be JSON: send the header content-type: application/json."},
	moderatov1.Reason_REASON_HEADERS_TOO_LARGE:       {http.StatusRequestHeaderFieldsTooLarge, codes.InvalidArgument, "The header section is larger than 16 KiB."},
	moderatov1.Reason_REASON_RATE_LIMITED:            {http.StatusTooManyRequests, codes.ResourceExhausted, "Too many requests for this client and user; wait as long as Retry-After says."},
	moderatov1.Reason_REASON_INTERNAL:                {http.StatusInternalServerError, codes.Internal, "Something went wrong on our side. If it stays, report it with the request id."},
	moderatov1.Reason_REASON_UNAVAILABLE:             {http.StatusServiceUnavailable, codes.Unavailable, "The service is unavailable at the moment. Try again shortly."},
	moderatov1.Reason_REASON_DEADLINE_EXCEEDED:       {http.StatusGatewayTimeout, codes.DeadlineExceeded, "The request took too long. A change may or may not have happened: repeat it, or read the state."},
}

// Code is the reason as clients see it: its name without the prefix.
func Code(r moderatov1.Reason) string { return strings.TrimPrefix(r.String(), "REASON_") }

// FromCode is the reason with this code, or REASON_UNSPECIFIED.
func FromCode(code string) moderatov1.Reason {
	return moderatov1.Reason(moderatov1.Reason_value["REASON_"+code])
}

// HTTPStatus is the status of a reason over REST.
func HTTPStatus(r moderatov1.Reason) int { return conditions[r].http }
