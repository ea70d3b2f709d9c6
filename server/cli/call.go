package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// apiCall calls an operation over REST and prints the response.
type apiCall struct {
	api
	Method     verb     `arg:"" complete:"methods" help:"GET, HEAD, POST or DELETE." placeholder:"METHOD"`
	Path       string   `arg:"" help:"The path, such as /v1/users/profile; it may have a query." placeholder:"PATH"`
	Field      []string `short:"f" help:"An argument KEY=VALUE whose value is a text: of the query for GET and HEAD, else of the JSON body. KEY[]=VALUE adds to a list. Can be repeated." sep:"none" placeholder:"KEY=VALUE"`
	JSONField  []string `short:"F" name:"json-field" help:"An argument of the body whose value is JSON, such as categoryId=3. Can be repeated." sep:"none" placeholder:"KEY=JSON"`
	Input      string   `help:"A file with the body; - is standard input." placeholder:"FILE"`
	ActingUser string   `help:"The user for whom a service token acts." placeholder:"UUID"`
	Include    bool     `short:"i" help:"Print the status and the headers of the response too."`
	Paginate   bool     `help:"Request all pages of a list, and print one after the other."`
}

// verb is an HTTP method as an argument.
type verb string

// UnmarshalText parses the argument, in any letter case.
func (v *verb) UnmarshalText(text []byte) error {
	*v = verb(strings.ToUpper(string(text)))
	if !slices.Contains([]verb{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete}, *v) {
		return fmt.Errorf("%q must be GET, HEAD, POST or DELETE", text)
	}
	return nil
}

// hasQuery reports whether the arguments of a request are in its query.
func (v verb) hasQuery() bool { return v == http.MethodGet || v == http.MethodHead }

// Validate rejects arguments that contradict each other.
func (c *apiCall) Validate() error {
	switch {
	case !strings.HasPrefix(c.Path, "/"):
		return fmt.Errorf("the path %q must begin with /; --server names the server", c.Path)
	case c.Paginate && c.Method != http.MethodGet:
		return errors.New("--paginate: only GET lists have pages")
	case c.Input != "" && (c.Method.hasQuery() || len(c.Field)+len(c.JSONField) > 0):
		return errors.New("--input is the whole body: it is for POST and DELETE, without --field and --json-field")
	case c.Method.hasQuery() && len(c.JSONField) > 0:
		return errors.New("--json-field is for POST and DELETE, which have a body; use --field")
	}
	return c.api.Validate()
}

// Run calls the operation. An error of the server is printed like any response, and the
// exit code is 1.
func (c *apiCall) Run(ctx context.Context, s *streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	address, err := url.Parse(strings.TrimSuffix(c.Server, "/") + c.Path)
	if err != nil {
		return fmt.Errorf("the path: %w", err)
	}
	body, err := c.arguments(address, s.in)
	if err != nil {
		return err
	}
	for {
		cursor, err := c.request(ctx, apiTimeout, s.out, address, body)
		if err != nil || cursor == "" || !c.Paginate {
			return err
		}
		query := address.Query()
		query.Set("cursor", cursor)
		address.RawQuery = query.Encode()
	}
}

// arguments adds the arguments to the query, or returns them as the body.
func (c *apiCall) arguments(address *url.URL, in io.Reader) (body []byte, err error) {
	switch c.Input {
	case "":
	case "-":
		return io.ReadAll(in)
	default:
		return os.ReadFile(c.Input)
	}
	query, fields := address.Query(), map[string]any{}
	for _, argument := range c.Field {
		key, value, ok := strings.Cut(argument, "=")
		if !ok {
			return nil, fmt.Errorf("--field %q: must be KEY=VALUE", argument)
		}
		query.Add(key, value)
		addField(fields, key, value)
	}
	for _, argument := range c.JSONField {
		key, value, ok := strings.Cut(argument, "=")
		if !ok || !json.Valid([]byte(value)) {
			return nil, fmt.Errorf("--json-field %q: must be KEY=JSON", argument)
		}
		addField(fields, key, json.RawMessage(value))
	}
	if c.Method.hasQuery() {
		address.RawQuery = query.Encode()
		return nil, nil
	}
	return json.Marshal(fields)
}

// addField adds a field to the body: to a list, if its key ends with brackets.
func addField(fields map[string]any, key string, value any) {
	name, isList := strings.CutSuffix(key, "[]")
	if !isList {
		fields[key] = value
		return
	}
	list, _ := fields[name].([]any)
	fields[name] = append(list, value)
}

// request sends a request and prints the response, which must be complete in time unless it
// is an event stream. It returns the cursor of the next page.
func (c *apiCall) request(ctx context.Context, timeout time.Duration, out io.Writer, address *url.URL, body []byte) (cursor string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := fmt.Errorf("no response within %s; the call may or may not have taken effect", timeout)
	patience := time.AfterFunc(timeout, func() { cancel(late) })
	defer patience.Stop()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), late) {
			err = late
		}
	}()
	request, err := http.NewRequestWithContext(ctx, string(c.Method), address.String(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	c.sign(request)
	if c.ActingUser != "" {
		request.Header.Set("Acting-User", c.ActingUser)
	}
	response, err := c.send(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if c.Include {
		writeHead(out, response)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		patience.Stop() // it ends with Ctrl-C
		_, err := io.Copy(out, response.Body)
		return "", err
	}
	return c.print(out, response)
}

// print prints the body of a response, and returns the cursor of the next page or the
// error that the body describes.
func (c *apiCall) print(out io.Writer, response *http.Response) (cursor string, err error) {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if c.Method == http.MethodHead {
		if response.StatusCode >= http.StatusBadRequest {
			return "", errors.New(response.Status)
		}
		return "", nil
	}
	writeJSON(out, body, isTerminal(out))
	response.Body = io.NopCloser(bytes.NewReader(body))
	if !strings.HasPrefix(c.Path, "/v1/") && response.StatusCode < http.StatusBadRequest {
		return "", nil // it has another form
	}
	if err := readAnswer(response, nil); err != nil {
		return "", err
	}
	var page struct {
		Data struct{ Pagination struct{ Cursor string } }
	}
	_ = json.Unmarshal(body, &page) // of a list whose data are the rows, the headers have the cursor
	return cmp.Or(page.Data.Pagination.Cursor, linkedCursor(response.Header)), nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; *rel="next"`)

// linkedCursor returns the cursor of the next page that the headers name; empty if there is
// none.
func linkedCursor(header http.Header) string {
	for _, link := range header.Values("Link") {
		if found := nextLink.FindStringSubmatch(link); found != nil {
			if next, err := url.Parse(found[1]); err == nil {
				return next.Query().Get("cursor")
			}
		}
	}
	return ""
}

// writeHead writes the status line and the headers of a response.
func writeHead(w io.Writer, response *http.Response) {
	fmt.Fprintf(w, "%s %s\n", response.Proto, response.Status)
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		for _, value := range response.Header[name] {
			fmt.Fprintf(w, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintln(w)
}

// writeJSON writes a body as a line, or indented for people.
func writeJSON(w io.Writer, body []byte, isPretty bool) {
	var indented bytes.Buffer
	if isPretty && json.Indent(&indented, body, "", "  ") == nil {
		body = indented.Bytes()
	}
	fmt.Fprintf(w, "%s\n", bytes.TrimSuffix(body, []byte("\n")))
}
