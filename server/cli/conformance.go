package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/moderato-live/moderato/server/cli/conformance"
)

// conformanceCheck checks a server as its clients see it.
type conformanceCheck struct {
	trust

	BaseURL  string   `name:"base-url" help:"The REST address of the server, without /v1." default:"http://${http_addr}" env:"MODERATO_SERVER" placeholder:"URL"`
	ClientID string   `name:"client-id" help:"The client to which the tokens were issued." required:"" env:"MODERATO_CLIENT" placeholder:"ID"`
	Token    []secret `help:"An access token; - reads it from standard input. Repeat it for more: of a user with a channel, of one without, of the app, and one without the scope users.read." required:"" env:"MODERATO_TOKEN" placeholder:"TOKEN"`

	Write string `help:"Also change this channel, which must be a test channel of a token's user, and undo it." placeholder:"CHANNEL"`

	JSON        bool          `name:"json" help:"Print the report as JSON."`
	Rate        float64       `help:"Requests a second; 0 sets no limit." default:"20" env:"MODERATO_CONFORMANCE_RATE"`
	MaxRequests int           `help:"How many requests are sent at most." default:"3000"`
	Timeout     time.Duration `help:"How long the run may take." default:"10m"`
}

// Help returns the text below the usage.
func (c *conformanceCheck) Help() string {
	return "It only reads, except with --write. The exit code is 0 without findings, else 1. What the tokens cannot show is listed as skipped."
}

// Validate rejects an address that is not an HTTP or HTTPS URL, and bounds that permit nothing.
func (c *conformanceCheck) Validate() error {
	u, err := url.Parse(c.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" {
		return fmt.Errorf("--base-url %q: must be an address such as http://127.0.0.1:8080", c.BaseURL)
	}
	if c.Rate < 0 || c.MaxRequests < 1 || c.Timeout <= 0 {
		return errors.New("--rate must be 0 or more, --max-requests and --timeout more than 0")
	}
	return c.validate(u.Scheme == "https", "an address that begins with https://, in --base-url")
}

// Run checks the server, and prints what differs from the interface document.
func (c *conformanceCheck) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	client, err := c.httpClient()
	if err != nil {
		return err
	}
	config := conformance.Config{BaseURL: c.BaseURL, ClientID: c.ClientID, WriteChannel: c.Write, Rate: c.Rate, MaxRequests: c.MaxRequests, HTTP: client}
	for _, token := range c.Token {
		config.Tokens = append(config.Tokens, string(token))
	}
	report, err := conformance.Run(ctx, config)
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = writeReport(s.out, report)
	}
	if n := len(report.Findings); n > 0 && err == nil {
		return fmt.Errorf("conformance: %d findings", n)
	}
	return err
}

// writeReport writes a report for people.
func writeReport(w io.Writer, report *conformance.Report) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(report.Findings) > 0 {
		fmt.Fprintln(table, "SECTION\tOPERATION\tFINDING")
		for _, f := range report.Findings {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Section, f.Operation, f.Text)
		}
		fmt.Fprintln(table)
	}
	for i, skipped := range report.Skipped {
		if i == 0 {
			fmt.Fprintln(table, "SKIPPED\tWHY")
		}
		fmt.Fprintf(table, "%s\t%s\n", skipped.Operation, skipped.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d operations, %d requests, %d findings, %d skipped.\n", report.Operations, report.Requests, len(report.Findings), len(report.Skipped))
	if len(report.Findings) > 0 {
		fmt.Fprintln(w, strings.TrimSpace(`
A section that is a number is of docs/interface.md; a page is of Moderato's documentation.`))
	}
	return nil
}
