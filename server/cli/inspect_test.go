package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

func TestTokenInspect(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := prepare(t, url)
	issue := func(n authn.NewToken) string {
		issued, err := authn.Issue(context.Background(), db, n)
		if err != nil {
			t.Fatal(err)
		}
		return issued.Text
	}
	user := authn.NewToken{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Scopes: []string{authn.UsersRead}, Lifetime: time.Hour}
	valid, revoked := issue(user), issue(user)
	user.Lifetime = time.Millisecond
	expired := issue(user)
	if _, err := authn.Revoke(context.Background(), db, revoked, nil); err != nil {
		t.Fatal(err)
	}
	service := issue(authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
	unknown, err := authn.NewText(authn.User)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token string
		args  []string
		code  int
		want  []string // in the output
		errs  string   // in the error output
	}{
		"user": {valid, nil, 0, []string{
			"kind     user\n", "client   dashboard\n", "user     " + servertest.Owner.String() + "\n", "scopes   users.read\n", "Z (in ", "  GET /v1/channels/stats ",
		}, ""},
		"service": {service, nil, 0, []string{"kind     service\n", "expires  never\n", "moderato.platform.v1.AudienceService/Follow"}, ""},
		"JSON":    {valid, []string{"--json"}, 0, []string{`{"clientId":"dashboard","kind":"user",`}, ""},
		"revoked": {revoked, nil, 1, []string{"revoked  2"}, "the token was revoked at 2"},
		"expired": {expired, nil, 1, []string{"expires  2"}, "the token expired at 2"},
		"unknown": {unknown, nil, 1, nil, "never issued here"},
		"damaged": {valid[:len(valid)-1], nil, 1, nil, "wrong checksum"},
		"refresh": {"mdr_" + valid[4:], nil, 1, nil, "this is a refresh token"},
	} {
		// The token as an argument, and on standard input.
		for _, given := range []struct{ argument, input string }{{c.token, ""}, {"-", c.token + "\n"}} {
			got := process.Run(t, nil, given.input, append([]string{"token", "inspect", process.DBFlag(url), given.argument}, c.args...)...)
			if got.Code != c.code || !strings.Contains(got.Err, c.errs) || (c.want == nil) != (got.Out == "") {
				t.Errorf("%s: got %+v, want the exit code %d and %q", name, got, c.code, c.errs)
			}
			for _, want := range c.want {
				if !strings.Contains(got.Out, want) {
					t.Errorf("%s: it does not print %q:\n%s", name, want, got.Out)
				}
			}
			if secret := c.token[4:]; strings.Contains(got.Out+got.Err, secret) {
				t.Errorf("%s: the token is printed:\n%s%s", name, got.Out, got.Err)
			}
		}
	}
}
