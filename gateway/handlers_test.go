package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/metadata"

	"github.com/moderato-live/moderato/internal/requestid"
)

// The metadata of a call is its id and the credentials, each repeated as in the request.
func TestCallMetadata(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/v1/moderation/moderators", nil)
	r.Header = http.Header{
		"Authorization": {"Bearer x\u00a0", "Bearer y"}, "Client-Id": {"a", "\t"}, "Cookie": {"c"}, "X-Request-Id": {"theirs"},
		"Grpc-Metadata-Acting-User": {"g"}, "Grpc-Timeout": {"1n"}, "X-Forwarded-For": {"f"},
	}
	sent := r.Header.Clone()
	w := httptest.NewRecorder()
	w.Header().Set(requestid.Header, "ours")
	handed := handedOver(r.Context(), w, r)
	annotated, err := runtime.AnnotateContext(handed.Context(), runtime.NewServeMux(), handed, "/x.Y/Z")
	if err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{"a unary call": annotated, "a stream": callContext(r.Context(), w, r)} {
		got, _ := metadata.FromIncomingContext(ctx)
		want := metadata.MD{"authorization": {"Bearer x?", "Bearer y"}, "client-id": {"a", "?"}, "x-request-id": {"ours"}}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		for key, values := range want {
			if !slices.Equal(got[key], values) {
				t.Errorf("%s, %s: got %q, want %q", name, key, got[key], values)
			}
		}
	}
	for name, values := range sent {
		if !slices.Equal(r.Header[name], values) {
			t.Errorf("the request's own %s: got %q, want %q as before", name, r.Header[name], values)
		}
	}
}
