package apierr_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/grpc/codes"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/apierr"
)

// row is how both transports show a condition.
type row struct {
	http int
	grpc codes.Code
}

// documented lists the conditions that the contract must declare. If a transport never
// shows a condition, the status for that transport is 0 and is not compared.
var documented = map[string]row{
	"TOKEN_MISSING":              {401, codes.Unauthenticated},
	"TOKEN_INVALID":              {401, codes.Unauthenticated},
	"TOKEN_EXPIRED":              {401, codes.Unauthenticated},
	"CLIENT_ID_MISSING":          {401, codes.Unauthenticated},
	"CLIENT_ID_MISMATCH":         {401, codes.Unauthenticated},
	"TOKEN_KIND_NOT_ACCEPTED":    {403, codes.PermissionDenied},
	"SCOPE_MISSING":              {403, codes.PermissionDenied},
	"GRANT_MISSING":              {403, codes.PermissionDenied},
	"NOT_CHANNEL_OWNER":          {403, codes.PermissionDenied},
	"NOT_CHANNEL_MODERATOR":      {403, codes.PermissionDenied},
	"NOT_SELF":                   {403, codes.PermissionDenied},
	"INVALID_ARGUMENT":           {400, codes.InvalidArgument},
	"CHANNEL_NOT_FOUND":          {400, codes.InvalidArgument},
	"USER_NOT_FOUND":             {400, codes.InvalidArgument},
	"CATEGORY_NOT_FOUND":         {400, codes.InvalidArgument},
	"CURSOR_INVALID":             {400, codes.InvalidArgument},
	"TARGET_IS_CHANNEL":          {400, codes.InvalidArgument},
	"RESULT_TOO_LARGE":           {400, codes.InvalidArgument},
	"MESSAGE_NOT_FOUND":          {404, codes.NotFound},
	"NOT_BANNED":                 {404, codes.NotFound},
	"MUTE_ACTIVE":                {409, codes.AlreadyExists},
	"USER_BANNED":                {403, codes.FailedPrecondition},
	"USER_MUTED":                 {403, codes.FailedPrecondition},
	"USERNAME_TAKEN":             {0, codes.AlreadyExists},
	"CLIENT_NOT_FOUND":           {0, codes.InvalidArgument},
	"CATEGORY_IN_USE":            {0, codes.FailedPrecondition},
	"CHANNEL_NOT_LIVE":           {0, codes.FailedPrecondition},
	"NOT_FOLLOWING":              {0, codes.FailedPrecondition},
	"BEING_DELETED":              {0, codes.FailedPrecondition},
	"WATCHER_TOO_SLOW":           {503, codes.ResourceExhausted},
	"WEBHOOK_NOT_FOUND":          {404, codes.NotFound},
	"WEBHOOK_LIMIT_REACHED":      {409, codes.FailedPrecondition},
	"WEBHOOK_DISABLED":           {409, codes.FailedPrecondition},
	"WEBHOOK_EXISTS":             {409, codes.AlreadyExists},
	"REDELIVERY_LIMIT_REACHED":   {409, codes.FailedPrecondition},
	"EVENT_NOT_FOUND":            {404, codes.NotFound},
	"OVERLOADED":                 {503, codes.Unavailable},
	"STREAM_LIMIT_REACHED":       {429, codes.ResourceExhausted},
	"SESSION_NOT_FOUND":          {404, codes.NotFound},
	"AUTH_CONTEXT_MISMATCH":      {409, codes.FailedPrecondition},
	"SUBSCRIPTION_NOT_FOUND":     {404, codes.NotFound},
	"TICKET_INVALID":             {401, codes.Unauthenticated},
	"PATH_NOT_FOUND":             {404, 0},
	"METHOD_NOT_ALLOWED":         {405, 0},
	"BODY_TOO_LARGE":             {413, 0},
	"MEDIA_TYPE_UNSUPPORTED":     {415, 0},
	"HEADERS_TOO_LARGE":          {431, 0},
	"RATE_LIMITED":               {429, codes.ResourceExhausted},
	"INTERNAL":                   {500, codes.Internal},
	"UNAVAILABLE":                {503, codes.Unavailable},
	"DEADLINE_EXCEEDED":          {504, codes.DeadlineExceeded},
	"CLIENT_CREDENTIALS_INVALID": {401, 0},
	"AUTHORIZATION_INVALID":      {400, 0},
	"REQUEST_NOT_FOUND":          {0, codes.NotFound},
	"NOT_MUTED":                  {404, codes.NotFound},
	"BATCH_NOT_FOUND":            {404, codes.NotFound},
	"SWEEP_NOT_FOUND":            {404, codes.NotFound},
	"SWEEP_EXPIRED":              {409, codes.FailedPrecondition},
	"SWEEP_TOO_LARGE":            {400, codes.InvalidArgument},
	"IDEMPOTENCY_KEY_REUSED":     {422, codes.FailedPrecondition},
	"IDEMPOTENCY_KEY_IN_USE":     {409, codes.Aborted},
	"CHAT_RESTRICTED":            {403, codes.FailedPrecondition},
	"VERSION_CONFLICT":           {409, codes.Aborted},
	"MESSAGE_BLOCKED":            {403, codes.FailedPrecondition},
	"MESSAGE_HELD":               {403, codes.FailedPrecondition},
	"RULES_TOO_COSTLY":           {400, codes.InvalidArgument},
	"RULE_LIMIT_REACHED":         {409, codes.FailedPrecondition},
	"PREVIEW_TOO_LARGE":          {400, codes.InvalidArgument},
	"VERSION_NOT_FOUND":          {404, codes.NotFound},
}

// reasons returns all reasons of the contract except the unspecified one.
func reasons() []moderatov1.Reason {
	var all []moderatov1.Reason
	for number := range moderatov1.Reason_name {
		if r := moderatov1.Reason(number); r != moderatov1.Reason_REASON_UNSPECIFIED {
			all = append(all, r)
		}
	}
	return all
}

func TestErrorTableMatchesDocumentation(t *testing.T) {
	t.Parallel()
	for _, r := range reasons() {
		code := apierr.Code(r)
		want, ok := documented[code]
		if !ok {
			t.Errorf("%s is in the contract, and not documented", code)
			continue
		}
		if got := apierr.HTTPStatus(r); want.http != 0 && got != want.http {
			t.Errorf("%s over REST: got %d, want %d", code, got, want.http)
		}
		if got := apierr.New(r).GRPCStatus().Code(); want.grpc != 0 && got != want.grpc {
			t.Errorf("%s over gRPC: got %s, want %s", code, got, want.grpc)
		}
		// Even where a transport never shows it, it would be an error there.
		if got := apierr.HTTPStatus(r); got < 400 || got > 599 {
			t.Errorf("%s over REST: got %d, want an error's status", code, got)
		}
		if got := apierr.New(r).GRPCStatus().Code(); got == codes.OK || got == codes.Unknown {
			t.Errorf("%s over gRPC: got %s, want an error's code", code, got)
		}
	}
	if got, want := len(reasons()), len(documented); got != want {
		t.Errorf("the contract has %d reasons, the documentation %d", got, want)
	}
}

func TestEveryReasonHasMessage(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, r := range reasons() {
		code, text := apierr.Code(r), apierr.New(r).Text()
		if text == "" || !unicode.IsUpper([]rune(text)[0]) || !strings.HasSuffix(text, ".") {
			t.Errorf("%s: got %q, want a sentence", code, text)
		}
		if other := seen[text]; other != "" {
			t.Errorf("%s and %s have the same sentence", code, other)
		}
		seen[text] = code
	}
}

func TestErrorCodesAreStable(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	for _, r := range reasons() {
		code := apierr.Code(r)
		if !word.MatchString(code) || strings.HasPrefix(code, "REASON") {
			t.Errorf("got the code %q, want an upper-case word", code)
		}
		if got := apierr.FromCode(code); got != r {
			t.Errorf("%s: read back as %v", code, got)
		}
	}
	for _, code := range []string{"", "NOTHING", "REASON_INTERNAL", "internal"} {
		if got := apierr.FromCode(code); got != moderatov1.Reason_REASON_UNSPECIFIED {
			t.Errorf("%q: got %v, want the unspecified reason", code, got)
		}
	}
}

func TestServerErrorReasons(t *testing.T) {
	t.Parallel()
	for _, r := range reasons() {
		want := r == moderatov1.Reason_REASON_INTERNAL || r == moderatov1.Reason_REASON_UNAVAILABLE
		if got := apierr.New(r).IsOurs(); got != want {
			t.Errorf("%s: got %t, want %t", apierr.Code(r), got, want)
		}
	}
	if f := apierr.Of(context.DeadlineExceeded); f.IsOurs() {
		t.Error("a deadline that passed is no fault of ours")
	}
}
