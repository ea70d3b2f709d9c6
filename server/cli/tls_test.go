package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moderato-live/moderato/internal/certificates/certtest"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/servertest/process"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestCommandsConnectOverTLS calls a server that has a certificate of an authority of its
// own, and requires one of gRPC clients. All settings are variables.
func TestCommandsConnectOverTLS(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := prepare(t, url)
	authority, other := certtest.NewAuthority(t), certtest.NewAuthority(t)
	cert, key := authority.Files(t, t.TempDir(), "127.0.0.1", time.Hour)
	ownCert, ownKey := authority.Files(t, t.TempDir(), "a backend", time.Hour)
	p := process.ServeWith(t, url, []string{
		"MODERATO_HTTP_TLS_CERT=" + cert, "MODERATO_HTTP_TLS_KEY=" + key,
		"MODERATO_GRPC_TLS_CERT=" + cert, "MODERATO_GRPC_TLS_KEY=" + key, "MODERATO_GRPC_CLIENT_CA=" + authority.File,
	})
	service, err := authn.Issue(t.Context(), db, authn.NewToken{Kind: authn.Service, ClientID: servertest.ChatServer})
	if err != nil {
		t.Fatal(err)
	}
	caller := []string{
		"MODERATO_SERVER=https://" + p.REST, "MODERATO_GRPC_SERVER=" + p.GRPC, "MODERATO_GRPC_TLS=true",
		"MODERATO_CLIENT=" + servertest.ChatServer, "MODERATO_TOKEN=" + service.Text,
	}
	trusting, identified := "MODERATO_TLS_CA="+authority.File, []string{"MODERATO_TLS_CERT=" + ownCert, "MODERATO_TLS_KEY=" + ownKey}
	call := []string{"api", "GET", "/v1/tokens/self"}
	cause := []string{"events", "trigger", "channel.ban", "--channel=" + servertest.Owner.String()}
	for _, c := range []struct {
		args, env []string
		want      string // in the error; empty for success
	}{
		{call, []string{trusting}, ""},
		{call, nil, "the certificate of the server is not trusted: "},
		{call, nil, "name the authority that signed it with --tls-ca"},
		{call, []string{"MODERATO_TLS_CA=" + other.File}, "certificate signed by unknown authority"},
		{cause, append(identified, trusting), ""},
	} {
		got := process.Run(t, append(c.env, caller...), "", c.args...)
		if isDone := got.Code == 0; isDone != (c.want == "") || !strings.Contains(got.Err, c.want) {
			t.Errorf("%q with %q: exit code %d, prints %s%s, want %q", c.args[0], c.env, got.Code, got.Out, got.Err, c.want)
		}
	}
}

// TestDocumentedTLSSettings serves with the documented command, and reads the documented
// URL of a database.
func TestDocumentedTLSSettings(t *testing.T) {
	t.Parallel()
	_, flags, found := strings.Cut(strings.ReplaceAll(block(t, "docs/operations.md: Serve TLS/1"), "\\\n", ""), "moderato serve ")
	if !found {
		t.Fatal("the block does not serve")
	}
	flags = strings.NewReplacer(":8443", "127.0.0.1:0", ":9443", "127.0.0.1:0").Replace(flags)
	args := append([]string{"serve"}, strings.Fields(flags)...)
	p := &process.Server{Cmd: process.Command(t, nil, append(args, process.DBFlag(storetest.SQLite(t)), "--admin-addr=127.0.0.1:0", "--log-format=json")...)}
	authority := certtest.NewAuthority(t)
	for _, name := range []string{"rest", "grpc"} {
		cert, key := authority.Issue(t, "127.0.0.1", time.Hour)
		certtest.Write(t, filepath.Join(p.Cmd.Dir, name+".pem"), cert)
		certtest.Write(t, filepath.Join(p.Cmd.Dir, name+"-key.pem"), key)
	}
	ca, err := os.ReadFile(authority.File)
	if err != nil {
		t.Fatal(err)
	}
	certtest.Write(t, filepath.Join(p.Cmd.Dir, "backends-ca.pem"), ca)
	p.Start(t)
	if code := p.Terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	_, text, _ := strings.Cut(strings.TrimSpace(block(t, "docs/operations.md: Serve TLS/2")), "MODERATO_DB='")
	url, err := store.ParseURL(strings.ReplaceAll(strings.TrimSuffix(text, "'"), "…", "secret"))
	if err != nil || url.TLSCA == "" || url.TLSCert == "" || url.TLSKey == "" {
		t.Errorf("the URL is %+v (%v)", url, err)
	}
}
