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

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	"github.com/moderato-live/moderato/server/auth"
	"github.com/moderato-live/moderato/server/platform"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/server/uid"
)

type migrate struct{ database }

// Run migrates and tells each step.
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
	db, err := c.openWith(ctx, store.OpenForImport)
	if err != nil {
		return err
	}
	defer db.Close()
	start := time.Now()
	importer := platform.Importer{Store: db}
	if isTerminal(s.err) {
		importer.Progress = func(records int) { fmt.Fprintf(s.err, "\r%d records", records) }
		defer fmt.Fprintln(s.err)
	}
	records, err := importer.ImportLines(ctx, in)
	if err != nil {
		var line *platform.LineError
		if errors.As(err, &line) {
			err = fmt.Errorf("%s: %s; the %d records before its batch are stored, correct the line and run the import again",
				c.File, strings.TrimSuffix(line.Error(), "."), records)
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

type clientCreate struct {
	database
	ID      string `help:"The id that the client sends: 1 to 64 of A-Z a-z 0-9 _ . -" required:"" placeholder:"ID"`
	Name    string `help:"The name shown to people." required:"" placeholder:"NAME"`
	Service bool   `help:"It is one of the platform's own backends, and may hold service tokens."`
}

// Run creates the client.
func (c *clientCreate) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	importer := platform.Importer{Store: db}
	err = importer.ImportRecords(ctx, []*platformv1.Record{{Kind: &platformv1.Record_Client{
		Client: &platformv1.ClientRecord{Id: c.ID, Name: c.Name, Service: c.Service},
	}}})
	var line *platform.LineError
	if errors.As(err, &line) {
		err = errors.New(line.Reason())
	}
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	fmt.Fprintf(s.err, "client %s is there\n", c.ID)
	return nil
}

type tokenIssue struct {
	database
	Client  string        `help:"The client to which the token is issued." required:"" placeholder:"ID"`
	User    string        `help:"A user token, for this user." xor:"kind" placeholder:"UUID"`
	App     bool          `help:"An app token." xor:"kind"`
	Service bool          `help:"A service token, for a service client; it has every scope." xor:"kind"`
	Scope   []string      `help:"A scope of the token: users.read or channel.moderate. Can be repeated." sep:"none" placeholder:"S"`
	TTL     time.Duration `name:"ttl" help:"Its lifetime; when not given 24h for a user, 168h for an app, without end for a service." placeholder:"DURATION"`
}

// Run issues the token; its text is all that goes to standard output.
func (c *tokenIssue) Run(ctx context.Context, s *streams) error {
	token := auth.NewToken{ClientID: c.Client, Scopes: slices.Compact(slices.Sorted(slices.Values(c.Scope))), Lifetime: c.TTL}
	switch {
	case c.App:
		token.Kind = auth.App
	case c.Service:
		token.Kind = auth.Service
	case c.User != "":
		token.Kind = auth.User
		id, err := uid.Parse(c.User)
		if err != nil {
			return fmt.Errorf("--user %q: must be a UUID in its 36-character form", c.User)
		}
		token.UserID = id
	default:
		return errors.New("say for whom the token is: --user UUID, --app or --service")
	}
	if c.TTL < 0 {
		return fmt.Errorf("--ttl %s: must be more than 0", c.TTL)
	}
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	text, err := auth.Issue(ctx, db, token)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, text)
	return nil
}

type tokenRevoke struct {
	database
	Token string `arg:"" help:"The token." placeholder:"TOKEN"`
}

// Run revokes the token.
func (c *tokenRevoke) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := auth.Revoke(ctx, db, c.Token); err != nil {
		return err
	}
	fmt.Fprintln(s.err, "revoked; servers that read it lately notice within 2 s")
	return nil
}
