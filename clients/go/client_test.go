package moderato_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	moderato "github.com/moderato-live/moderato/clients/go"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newStub(t, empty)
	c := s.client(t, func(c *moderato.Config) { c.ActingUser = "default" })
	for name, call := range map[string]struct {
		ctx    context.Context
		acting []string
	}{
		"the configured user": {t.Context(), []string{"default"}},
		"another user":        {moderato.ActingAs(t.Context(), "other"), []string{"other"}},
		"no user":             {moderato.ActingAs(t.Context(), ""), nil},
	} {
		if _, err := c.Tokens.GetSelf(call.ctx, &moderatov1.GetSelfRequest{}); err != nil {
			t.Fatal(err)
		}
		md := s.received()[len(s.received())-1].metadata
		if got := md.Get("acting-user"); !slices.Equal(got, call.acting) {
			t.Errorf("%s: acting-user is %q, want %q", name, got, call.acting)
		}
		if a, id := md.Get("authorization"), md.Get("client-id"); !slices.Equal(a, []string{"Bearer mdu_test"}) || !slices.Equal(id, []string{"bot"}) {
			t.Errorf("%s: the credentials are %q and %q", name, a, id)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := newStub(t, empty)
	c := s.client(t)
	for _, ctx := range []context.Context{t.Context(), t.Context(), moderato.WithRequestID(t.Context(), "mine")} {
		if _, err := c.Tokens.GetSelf(ctx, &moderatov1.GetSelfRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, a := range s.received() {
		ids = append(ids, strings.Join(a.metadata.Get("x-request-id"), " "))
	}
	if len(ids[0]) != 36 || len(ids[1]) != 36 || ids[0] == ids[1] || ids[2] != "mine" {
		t.Errorf("the request ids are %q", ids)
	}
}

// TestTokenIsNotSentWithoutTLS has the options of the connection replace TLS.
func TestTokenIsNotSentWithoutTLS(t *testing.T) {
	t.Parallel()
	s := newStub(t, empty)
	c, err := moderato.New(moderato.Config{
		Address: s.address, ClientID: "bot", Tokens: moderato.StaticToken("mdu_test"),
		DialOptions: []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
	})
	if err == nil {
		_, err = c.Tokens.GetSelf(t.Context(), &moderatov1.GetSelfRequest{})
	}
	if err == nil || len(s.received()) > 0 {
		t.Errorf("the server received %v, error %v", s.received(), err)
	}
}

// failing is a token source that fails.
type failing struct{ err error }

func (f failing) Token() (*oauth2.Token, error) { return nil, f.err }

func TestTokenErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want codes.Code
	}{
		"refused":     {&oauth2.RetrieveError{Response: &http.Response{StatusCode: http.StatusBadRequest}, ErrorCode: "invalid_grant"}, codes.Unauthenticated},
		"overloaded":  {&oauth2.RetrieveError{Response: &http.Response{StatusCode: http.StatusServiceUnavailable}}, codes.Unavailable},
		"unreachable": {errors.New("connection refused"), codes.Unavailable},
	} {
		client := newStub(t, empty).client(t, func(config *moderato.Config) {
			config.Tokens, config.DialOptions = failing{c.err}, []grpc.DialOption{grpc.WithDisableRetry()}
		})
		_, err := client.Moderation.MuteUser(t.Context(), &moderatov1.MuteUserRequest{})
		if status.Code(err) != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// hanging is a token source that does not return before it is released.
type hanging struct{ asked, released chan struct{} }

func (h *hanging) Token() (*oauth2.Token, error) {
	h.asked <- struct{}{}
	<-h.released
	return &oauth2.Token{AccessToken: "mdu_test"}, nil
}

// TestCallsDoNotHangWithTokens makes calls while the token source hangs. Each ends with its
// context, and all of them ask for one token.
func TestCallsDoNotHangWithTokens(t *testing.T) {
	t.Parallel()
	const calls = 3
	source := &hanging{asked: make(chan struct{}, calls+1), released: make(chan struct{})}
	client := newStub(t, empty).client(t, func(config *moderato.Config) { config.Tokens = source })
	call := func(ctx context.Context) error {
		_, err := client.Tokens.GetSelf(ctx, &moderatov1.GetSelfRequest{})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, calls)
	for range calls {
		go func() { ended <- call(ctx) }()
	}
	<-source.asked
	time.Sleep(50 * time.Millisecond) // the other calls wait for a token as well
	cancel()
	for range calls {
		select {
		case err := <-ended:
			if status.Code(err) != codes.Canceled {
				t.Errorf("got %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a call does not end with its context")
		}
	}
	if n := len(source.asked); n > 0 {
		t.Errorf("the source was asked %d times, want once", n+1)
	}
	close(source.released)
	if err := call(t.Context()); err != nil {
		t.Error(err)
	}
}

// silent is the transport of a server that does not respond.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestRefreshHasTimeout refreshes a token at a server that does not respond.
func TestRefreshHasTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ of, want time.Duration }{
		"by default":                   {0, 20 * time.Second},
		"of the program's HTTP client": {time.Minute, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: silent{}, Timeout: c.of})
			conf := &oauth2.Config{ClientID: "bot", Endpoint: moderato.Endpoint("http://moderato.test")}
			source := moderato.TokenSource(ctx, conf, &oauth2.Token{RefreshToken: "mdr_test"})
			began := time.Now()
			if _, err := source.Token(); err == nil || time.Since(began) != c.want {
				t.Errorf("%s: got %v after %s, want an error after %s", name, err, time.Since(began), c.want)
			}
		})
	}
}

// tokens is a token source that returns one token after the other.
type tokens struct{ next []string }

func (s *tokens) Token() (*oauth2.Token, error) {
	token := &oauth2.Token{AccessToken: s.next[0]}
	s.next = s.next[1:]
	return token, nil
}

func TestSaveTokens(t *testing.T) {
	t.Parallel()
	var saved []string
	source := moderato.SaveTokens(&tokens{[]string{"a", "a", "b", "c", "c"}}, func(token *oauth2.Token) error {
		if saved = append(saved, token.AccessToken); len(saved) == 3 {
			return errors.New("the disk is full")
		}
		return nil
	})
	for range 3 {
		if _, err := source.Token(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := source.Token(); err == nil {
		t.Error("a token that was not saved was returned")
	}
	if _, err := source.Token(); err != nil {
		t.Error(err)
	}
	if want := []string{"a", "b", "c", "c"}; !slices.Equal(saved, want) {
		t.Errorf("saved %q, want %q", saved, want)
	}
}

func TestNewRequiresConfig(t *testing.T) {
	t.Parallel()
	complete := moderato.Config{Address: "localhost:1", ClientID: "bot", Tokens: moderato.StaticToken("x")}
	for field, change := range map[string]func(*moderato.Config){
		"Address":  func(c *moderato.Config) { c.Address = "" },
		"ClientID": func(c *moderato.Config) { c.ClientID = "" },
		"Tokens":   func(c *moderato.Config) { c.Tokens = nil },
	} {
		c := complete
		change(&c)
		if _, err := moderato.New(c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}
