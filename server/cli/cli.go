// Package cli implements the command line of moderato.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/moderato-live/moderato/gateway/assets"
	"github.com/moderato-live/moderato/server"
	"github.com/moderato-live/moderato/server/domain/chat"
	"github.com/moderato-live/moderato/server/event/watch"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

const description = `Moderato: moderation and channel data for a live-streaming platform.

Every flag can also be given as an environment variable, named beside it.`

// commands defines the whole command line.
type commands struct {
	Serve   serve          `cmd:"" help:"Serve REST, gRPC and the admin address. The embedded database is created and migrated."`
	Migrate migrate        `cmd:"" help:"Migrate the database to this version."`
	Import  load           `cmd:"" help:"Import records from JSON Lines. Importing them again is safe."`
	Client  clientCommands `cmd:"" help:"Client applications."`
	Token   tokenCommands  `cmd:"" help:"Access tokens."`
	User    userCommands   `cmd:"" help:"Users and their data."`
	Events  struct {
		Tail    eventsTail    `cmd:"" help:"Print events as they happen."`
		Trigger eventsTrigger `cmd:"" help:"Cause real events of a type, to test what receives them; for development."`
		Receive eventsReceive `cmd:"" help:"Create a webhook, print the events that it receives, and delete it; for development."`
	} `cmd:"" help:"Events of channels."`
	Demo struct {
		Raid demoRaid `cmd:"" help:"Raid a channel of a demo: thousands of accounts follow it and post spam."`
	} `cmd:"" help:"Tools for trying a demo."`
	API         apiCall          `cmd:"" name:"api" help:"Call an operation over REST with a token, and print the response."`
	Conformance conformanceCheck `cmd:"" help:"Check a server against the interface document, as a client sees it."`
	Keys        struct {
		Rotate keysRotate `cmd:"" help:"Create a new key for cursors. Cursors of earlier keys stay valid."`
	} `cmd:"" help:"Keys that encrypt cursors."`
	Completion completion      `cmd:"" help:"Print the script with which a shell completes command lines."`
	Backup     backup          `cmd:"" help:"Copy an SQLite database to a new file. Safe while servers run."`
	Archive    archiveCommands `cmd:"" help:"Events and the log in files, to keep them elsewhere."`
	Help       help            `cmd:"" help:"Print the help of a command, such as moderato help token issue."`
	Fsck       check           `cmd:"" help:"Check the database for inconsistencies. Safe while servers run."`
	Version    version         `cmd:"" help:"Print the version."`
}

// streams holds the standard streams of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Run runs a command line and returns the exit code.
func Run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	parser, err := newParser(&commands{}, &streams{in, out, errs}, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		fmt.Fprintln(errs, "moderato:", err)
		return 1
	}
	if len(args) > 0 && args[0] == completeCommand {
		writeCandidates(out, parser.Model, args[1:])
		return 0
	}
	return run(parser, normalized(args), errs)
}

// negative is a negative number, which the parser takes for a flag.
var negative = regexp.MustCompile(`^-[0-9]`)

// normalized returns a command line in the forms that the parser knows.
func normalized(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	var all []string
	for i, arg := range args {
		if i > 0 && negative.MatchString(arg) && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") {
			all[len(all)-1] += "=" + arg
			continue
		}
		all = append(all, arg)
	}
	return all
}

// newParser returns the parser of command lines.
func newParser(c *commands, s *streams, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(options,
		kong.Name("moderato"),
		kong.Description(description),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Bind(s),
		readSecrets(s.in),
		kong.Vars{
			"db": server.DefaultDB, "http_addr": server.DefaultHTTPAddr, "grpc_addr": server.DefaultGRPCAddr,
			"admin_addr": server.DefaultAdminAddr, "rate_limit": fmt.Sprint(server.DefaultRateLimit),
			"default_avatar":      assets.Avatar,
			"chat_rate":           chat.DefaultRate().String(),
			"max_wait":            server.DefaultMaxWait.String(),
			"streams_per_user":    fmt.Sprint(watch.DefaultStreamsPerUser),
			"streams_per_token":   fmt.Sprint(watch.DefaultStreamsPerToken),
			"listener_channels":   fmt.Sprint(watch.DefaultMaxChannels),
			"max_results":         fmt.Sprint(server.DefaultMaxResults),
			"user_token_lifetime": hours(authn.DefaultLifetimes().User), "app_token_lifetime": hours(authn.DefaultLifetimes().App),
		},
	)...)
}

// hours returns a duration of whole hours as people write it.
func hours(d time.Duration) string { return strings.TrimSuffix(d.String(), "0m0s") }

// exit is the value of the panic that leaves the parser when kong exits, after --help.
type exit int

func run(parser *kong.Kong, args []string, errs io.Writer) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p)
		}
	}()
	if unknown := unknownVariables(parser.Model); len(unknown) > 0 {
		fmt.Fprintf(errs, "moderato: unknown environment variable %s; 'moderato serve --help' lists the valid ones\n", unknown[0])
		return 2
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(errs, "moderato:", withoutSecret(err.Error()))
		fmt.Fprintln(errs, "Run 'moderato --help' for usage.")
		return 2
	}
	if err := ctx.Run(parser); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errs, "moderato:", err)
		return 1
	}
	return 0
}

// inWords returns an error for people to read: an API error becomes its sentence,
// prefixed with what. Other errors are returned as they are.
func inWords(what string, err error) error {
	var told *apierr.Error
	if errors.As(err, &told) {
		return fmt.Errorf("%s: %s", what, told.Text())
	}
	return err
}

// withoutSecret removes the value of MODERATO_DB from a text. kong repeats the database
// URL, which may contain a password, in its errors.
func withoutSecret(text string) string {
	if value := os.Getenv("MODERATO_DB"); value != "" {
		text = strings.ReplaceAll(text, value, "…")
	}
	return text
}

// database holds the flag that every command on the database has.
type database struct {
	DB dbURL `help:"The database: sqlite:FILE or mysql://USER:PASSWORD@HOST:PORT/NAME?tls=true; for a cluster HOST:PORT,HOST:PORT and so on." default:"${db}" env:"MODERATO_DB"`
}

// open opens a database and checks the version of its schema.
func (d database) open(ctx context.Context) (*store.Store, error) { return d.openAs(ctx, store.Open) }

// openForImport is open for commands that write a lot of data.
func (d database) openForImport(ctx context.Context) (*store.Store, error) {
	return d.openAs(ctx, store.OpenForImport)
}

// openWithoutBound is open for commands that read whole tables.
func (d database) openWithoutBound(ctx context.Context) (*store.Store, error) {
	return d.openAs(ctx, store.OpenWithoutBound)
}

func (d database) openAs(ctx context.Context, open func(context.Context, store.URL) (*store.Store, error)) (*store.Store, error) {
	if err := d.checkExists(); err != nil {
		return nil, err
	}
	s, err := open(ctx, store.URL(d.DB))
	if err != nil {
		return nil, err
	}
	if err := s.CheckVersion(ctx); err != nil {
		s.Close()
		if errors.Is(err, store.ErrVersion) {
			return nil, fmt.Errorf("%w; run: moderato migrate --db %s (with the account in the URL)", err, store.URL(d.DB))
		}
		return nil, err
	}
	return s, nil
}

// checkExists returns an error if an embedded database does not exist: opening it would
// create it.
func (d database) checkExists() error {
	if d.DB.Path == "" {
		return nil
	}
	if _, err := os.Stat(d.DB.Path); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no database at %s; run the command in the directory where the server runs, or name the server's database with --db (moderato serve and moderato migrate create one)", store.URL(d.DB))
	}
	return nil
}

// dbURL is a store.URL as a flag.
type dbURL store.URL

// UnmarshalText parses the flag.
func (u *dbURL) UnmarshalText(text []byte) error {
	parsed, err := store.ParseURL(string(text))
	if err != nil {
		return fmt.Errorf("the database URL %w", err)
	}
	*u = dbURL(parsed)
	return nil
}

func newLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" || (format == "auto" && !isTerminal(w)) {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
