package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/moderato-live/moderato/server/authn"
	"github.com/moderato-live/moderato/server/feed"
	"github.com/moderato-live/moderato/server/importer"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
	"github.com/moderato-live/moderato/server/users"
)

type migrate struct{ database }

// Run migrates the database and reports the result.
func (c *migrate) Run(ctx context.Context, s *streams) error {
	if err := store.Migrate(ctx, store.URL(c.DB), newLog(s.err, slog.LevelInfo, "auto")); err != nil {
		return err
	}
	fmt.Fprintf(s.err, "%s is at this version.\n", store.URL(c.DB))
	return nil
}

type load struct {
	database
	File string `arg:"" help:"The file, or - for standard input." placeholder:"FILE"`
}

// Run imports a file.
func (c *load) Run(ctx context.Context, s *streams) error {
	in, closeInput, err := c.input(s)
	if err != nil {
		return err
	}
	defer closeInput()
	if c.DB.Path != "" {
		if err := store.Migrate(ctx, store.URL(c.DB), slog.New(slog.DiscardHandler)); err != nil {
			return err
		}
	}
	db, err := c.openForImport(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	start := time.Now()
	importer := importer.Importer{Store: db}
	if isTerminal(s.err) {
		importer.Progress = func(records int) { fmt.Fprintf(s.err, "\r%d records", records) }
		defer fmt.Fprintln(s.err)
	}
	records, err := importer.ImportLines(ctx, in)
	if err != nil {
		var line *feed.LineError
		if errors.As(err, &line) {
			stored := ""
			if records > 0 {
				stored = fmt.Sprintf("the %d records before its batch are stored, ", records)
			}
			err = fmt.Errorf("%s: %s; %scorrect the line and run the import again", c.File, strings.TrimSuffix(line.Error(), "."), stored)
		}
		return err
	}
	fmt.Fprintf(s.err, "\rimported %d records in %s\n", records, time.Since(start).Round(time.Millisecond))
	return nil
}

func (c *load) input(s *streams) (in io.Reader, closeInput func(), err error) {
	if c.File == "-" {
		return s.in, func() {}, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// lifetimes holds the flags for the lifetimes of tokens.
type lifetimes struct {
	UserTokenLifetime    time.Duration `help:"Default lifetime of user tokens." default:"${user_token_lifetime}" env:"MODERATO_USER_TOKEN_LIFETIME"`
	AppTokenLifetime     time.Duration `help:"Default lifetime of app tokens." default:"${app_token_lifetime}" env:"MODERATO_APP_TOKEN_LIFETIME"`
	ServiceTokenLifetime time.Duration `help:"Default lifetime of service tokens; 0 is until revoked." default:"0s" env:"MODERATO_SERVICE_TOKEN_LIFETIME"`
}

// Validate rejects lifetimes that no token can have.
func (l lifetimes) Validate() error {
	if l.UserTokenLifetime <= 0 || l.AppTokenLifetime <= 0 || l.ServiceTokenLifetime < 0 {
		return errors.New("the lifetime of a token must be more than 0; that of service tokens may be 0, for no end")
	}
	return nil
}

// Lifetimes returns the lifetimes that the flags set.
func (l lifetimes) Lifetimes() authn.Lifetimes {
	return authn.Lifetimes{User: l.UserTokenLifetime, App: l.AppTokenLifetime, Service: l.ServiceTokenLifetime}
}

type tokenIssue struct {
	database
	lifetimes
	Client  string        `help:"The client to which the token is issued." required:"" placeholder:"ID"`
	User    string        `help:"A user token, for this user." xor:"kind" placeholder:"UUID"`
	App     bool          `help:"An app token." xor:"kind"`
	Service bool          `help:"A service token, for a service client; it has every scope." xor:"kind"`
	Scope   []string      `help:"A scope of the token: users.read, channel.moderate, offline.access or users.bot. Can be repeated." sep:"none" complete:"scopes" placeholder:"S"`
	TTL     time.Duration `name:"ttl" help:"Lifetime of the token. Default: that of its kind." placeholder:"DURATION"`
}

// Run issues the token. It writes only the text of the token to standard output.
func (c *tokenIssue) Run(ctx context.Context, s *streams) error {
	token := authn.NewToken{ClientID: c.Client, Scopes: slices.Compact(slices.Sorted(slices.Values(c.Scope)))}
	switch {
	case c.App:
		token.Kind = authn.App
	case c.Service:
		token.Kind = authn.Service
	case c.User != "":
		token.Kind = authn.User
		id, err := uid.Parse(c.User)
		if err != nil {
			return fmt.Errorf("--user %q: must be a UUID in its 36-character form", c.User)
		}
		token.UserID = id
	default:
		return errors.New("one of --user UUID, --app and --service is required")
	}
	if c.TTL < 0 {
		return fmt.Errorf("--ttl %s: must be more than 0", c.TTL)
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if token.Lifetime = c.TTL; c.TTL == 0 {
		token.Lifetime = c.Lifetimes().Of(token.Kind)
	}
	issued, err := authn.Issue(ctx, db, token)
	if err != nil {
		return inWords("issue token", err)
	}
	fmt.Fprintln(s.out, issued.Text)
	c.tellHolder(ctx, s.err, db, token)
	return nil
}

// tellHolder writes whose token it is to standard error, because an id tells people nothing.
func (c *tokenIssue) tellHolder(ctx context.Context, w io.Writer, db *store.Store, token authn.NewToken) {
	holder := "client " + c.Client
	if token.Kind == authn.User {
		user, err := users.Get(ctx, db.Read.User, token.UserID)
		if err != nil {
			return // the token is issued all the same
		}
		holder = fmt.Sprintf("%s (%s), %s", user.DisplayName, user.Username, holder)
	}
	fmt.Fprintf(w, "%s token of %s\n", token.Kind, holder)
}

type tokenRevoke struct {
	database
	Token secret `arg:"" help:"The token; - reads it from standard input, which keeps it out of the process list." placeholder:"TOKEN"`
}

// Run revokes the token.
func (c *tokenRevoke) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := authn.Revoke(ctx, db, string(c.Token), nil)
	if err != nil {
		return err
	}
	if !found {
		return errors.New("revoke token: invalid token, or not issued by this database")
	}
	fmt.Fprintln(s.err, "revoked; servers that read it lately notice within 2 s")
	return nil
}
