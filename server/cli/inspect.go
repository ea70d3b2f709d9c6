package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
	"github.com/moderato-live/moderato/server/domain/access"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

type tokenInspect struct {
	database
	Token secret `arg:"" help:"The token; - reads it from standard input, which keeps it out of the process list." placeholder:"TOKEN"`
	JSON  bool   `name:"json" help:"Print what GET /v1/tokens/self returns."`
}

// Run prints what a token is, but never the token itself. The exit code is 1 if the token
// is not valid.
func (c *tokenInspect) Run(ctx context.Context, s *streams) error {
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := authn.Inspect(ctx, db, string(c.Token))
	if err != nil {
		return inWords("inspect token", err)
	}
	self := access.DescribeToken(found.Caller)
	if c.JSON {
		fmt.Fprintf(s.out, "%s\n", jsonapi.Marshal(self))
	} else {
		writeInspection(s.out, found, self)
	}
	switch {
	case found.RevokedAt != nil:
		return fmt.Errorf("the token was revoked at %s", found.RevokedAt)
	case !found.IsValid():
		return fmt.Errorf("the token expired at %s", found.Caller.ExpiresAt)
	}
	return nil
}

// writeInspection writes what a token is for people.
func writeInspection(w io.Writer, found *authn.Inspection, self *moderatov1.GetSelfResponse) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", name, value) }
	row("kind", self.GetKind())
	row("client", self.GetClientId())
	if self.UserId != nil {
		row("user", self.GetUserId())
	}
	row("scopes", strings.Join(self.GetScopes(), " "))
	row("issued", found.IssuedAt.String())
	row("expires", expiry(found))
	if found.RevokedAt != nil {
		row("revoked", found.RevokedAt.String())
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\nOperations that accept its kind and scopes, and the relation that they require:\n\n")
	for _, o := range self.GetOperations() {
		name := o.GetName()
		if o.Path != nil {
			name = o.GetMethod() + " " + o.GetPath()
		}
		fmt.Fprintf(table, "  %s\t%s\n", name, o.GetRelation())
	}
	_ = table.Flush()
}

// expiry returns when a token expires, as text.
func expiry(found *authn.Inspection) string {
	at := found.Caller.ExpiresAt
	switch {
	case at == nil:
		return "never"
	case *at <= found.Now:
		return at.String()
	}
	return fmt.Sprintf("%s (in %s)", at, at.Sub(found.Now).Round(time.Second))
}
