package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/domain/oauth"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/users"
	"github.com/moderato-live/moderato/server/store"
)

// tokenCommands are the commands on tokens.
type tokenCommands struct {
	Issue   tokenIssue   `cmd:"" help:"Issue an access token and print it, once."`
	List    tokenList    `cmd:"" help:"List the access tokens that are valid."`
	Inspect tokenInspect `cmd:"" help:"Print what an access token is and what it permits."`
	Revoke  tokenRevoke  `cmd:"" help:"Revoke an access token, or all tokens of a client or a user."`
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
	JSON    bool          `name:"json" help:"Print the token, and what it is, as one line of JSON."`
}

// Validate rejects what no token can be.
func (c *tokenIssue) Validate() error {
	if c.User == "" && !c.App && !c.Service {
		return errors.New("one of --user UUID, --app and --service is required")
	}
	if _, err := uid.Parse(c.User); c.User != "" && err != nil {
		return fmt.Errorf("--user %q: must be a UUID in its 36-character form", c.User)
	}
	if c.TTL < 0 {
		return fmt.Errorf("--ttl %s: must be more than 0", c.TTL)
	}
	if err := checkScopes(c.Scope); err != nil {
		return err
	}
	return c.lifetimes.Validate()
}

// checkScopes rejects unknown scopes.
func checkScopes(scopes []string) error {
	for _, scope := range scopes {
		if !slices.Contains(authn.Scopes(), scope) {
			return fmt.Errorf("--scope %q: must be one of %s", scope, strings.Join(authn.Scopes(), ", "))
		}
	}
	return nil
}

// token returns the token to issue.
func (c *tokenIssue) token() authn.NewToken {
	token := authn.NewToken{Kind: authn.Service, ClientID: c.Client, Scopes: slices.Compact(slices.Sorted(slices.Values(c.Scope)))}
	switch {
	case c.App:
		token.Kind = authn.App
	case c.User != "":
		token.Kind, token.UserID = authn.User, uid.MustParse(c.User) // Validate has parsed it
	}
	if token.Lifetime = c.TTL; c.TTL == 0 {
		token.Lifetime = c.Lifetimes().Of(token.Kind)
	}
	return token
}

// Run issues the token. Without --json it writes only the text of the token to standard output.
func (c *tokenIssue) Run(ctx context.Context, s *streams) error {
	token := c.token()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	issued, err := authn.Issue(ctx, db, token)
	if err != nil {
		return inWords("issue token", err)
	}
	if c.JSON {
		if err := printJSON(s.out, describeIssued(issued, token)); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(s.out, issued.Text)
	}
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

type tokenList struct {
	database
	Client string `help:"Only tokens of this client." placeholder:"ID"`
	User   string `help:"Only tokens of this user." placeholder:"USER"`
	JSON   bool   `name:"json" help:"Print each token as one line of JSON."`
}

// Run prints the tokens, but not their texts, which are not stored.
func (c *tokenList) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	holder, err := findHolder(ctx, db, c.Client, c.User)
	if err != nil {
		return inWords("list tokens", err)
	}
	each := func(do func(tokenDescription) error) error {
		return authn.EachValid(ctx, db, holder.ClientID, holder.UserID, func(row *ent.Token) error { return do(describeToken(row)) })
	}
	if c.JSON {
		return each(func(d tokenDescription) error { return printJSON(s.out, d) })
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tCLIENT\tUSER\tSCOPES\tISSUED\tEXPIRES")
	err = each(func(d tokenDescription) error {
		user, expires := "-", "never"
		if d.UserID != nil {
			user = *d.UserID
		}
		if d.ExpiresAt != nil {
			expires = *d.ExpiresAt
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Kind, d.ClientID, user, strings.Join(d.Scopes, " "), d.IssuedAt, expires)
		return err
	})
	return errors.Join(err, table.Flush())
}

// findHolder returns whose tokens the flags --client and --user mean.
func findHolder(ctx context.Context, db *store.Store, client, user string) (h oauth.Holder, err error) {
	h.ClientID = client
	if user == "" {
		return h, nil
	}
	u, err := findUser(ctx, db, user)
	if err == nil {
		h.UserID = u.ID
	}
	return h, err
}

// tokenDescription is a token as commands print it.
type tokenDescription struct {
	Token     string   `json:"token,omitempty"`
	Kind      string   `json:"kind"`
	ClientID  string   `json:"clientId"`
	UserID    *string  `json:"userId"`
	Scopes    []string `json:"scopes"`
	IssuedAt  string   `json:"issuedAt,omitempty"`
	ExpiresAt *string  `json:"expiresAt"`
}

func describeToken(row *ent.Token) tokenDescription {
	d := tokenDescription{
		Kind: row.Kind, ClientID: row.ClientID, Scopes: strings.Fields(row.Scopes),
		IssuedAt: row.IssuedAt.String(), ExpiresAt: timeOf(row.ExpiresAt),
	}
	if row.UserID != nil {
		id := row.UserID.String()
		d.UserID = &id
	}
	return d
}

func describeIssued(issued authn.Issued, token authn.NewToken) tokenDescription {
	d := tokenDescription{
		Token: issued.Text, Kind: string(token.Kind), ClientID: token.ClientID, Scopes: token.Scopes, ExpiresAt: timeOf(issued.ExpiresAt),
	}
	if token.Kind == authn.User {
		id := token.UserID.String()
		d.UserID = &id
	}
	return d
}

// timeOf returns an instant as text; nil for none.
func timeOf(at *instant.Instant) *string {
	if at == nil {
		return nil
	}
	text := at.String()
	return &text
}

type tokenRevoke struct {
	database
	Token  secret `arg:"" optional:"" help:"The token; - reads it from standard input, which keeps it out of the process list." placeholder:"TOKEN"`
	Client string `help:"Revoke all tokens of this client, and end its refresh tokens; with --user, only those for the user." placeholder:"ID"`
	User   string `help:"Revoke all tokens of this user, and end the refresh tokens." placeholder:"USER"`
}

// Validate checks that there is one way of naming the tokens.
func (c *tokenRevoke) Validate() error {
	if isHolder := c.Client != "" || c.User != ""; isHolder == (c.Token != "") {
		return errors.New("give either a token, or --client, --user or both")
	}
	return nil
}

// Run revokes the tokens.
func (c *tokenRevoke) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Token == "" {
		return c.revokeAll(ctx, s, db)
	}
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

// revokeAll revokes the tokens of a client or a user.
func (c *tokenRevoke) revokeAll(ctx context.Context, s *streams, db *store.Store) error {
	if c.Client != "" {
		if _, err := access.Client(ctx, db, c.Client); err != nil {
			return inWords("revoke tokens", err)
		}
	}
	holder, err := findHolder(ctx, db, c.Client, c.User)
	if err != nil {
		return inWords("revoke tokens", err)
	}
	revoked, err := oauth.RevokeTokens(ctx, db, holder)
	if err != nil {
		return fmt.Errorf("revoke tokens: %w; run the command again", err)
	}
	fmt.Fprintf(s.err, "revoked %d access tokens, and ended the refresh tokens; servers that read one lately notice within 2 s\n", revoked)
	return nil
}
