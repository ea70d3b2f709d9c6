package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// apiTimeout is longer than a server takes for a call.
const apiTimeout = 20 * time.Second

// api holds the flags of commands that call a server as its users do: over REST, with a
// token.
type api struct {
	trust

	Server string `help:"The server's REST address." default:"http://${http_addr}" env:"MODERATO_SERVER"`
	Client string `help:"The client to which the token was issued." required:"" env:"MODERATO_CLIENT" placeholder:"ID"`
	Token  secret `help:"The access token. Prefer the variable, or - to read it from standard input: arguments are visible in the process list." required:"" env:"MODERATO_TOKEN" placeholder:"TOKEN"`

	client *http.Client // nil until the first request
}

// Validate rejects a server address that is not an HTTP or HTTPS URL.
func (a *api) Validate() error {
	u, err := url.Parse(a.Server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("--server %q: must be an address such as http://127.0.0.1:8080", a.Server)
	}
	return a.validate(a.isHTTPS(), "an address of the server that begins with https://, in --server")
}

// apiError is the error response of a server, from the `message` and the `data` of the
// response.
type apiError struct {
	message string
	code    string
	fields  []string // names of the invalid fields
	webhook string   // the id of the webhook that exists
}

// Error returns the message and the code of the server.
func (e *apiError) Error() string {
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(e.message, "."), e.code)
}

// call calls the server and decodes the `data` of the response into answer.
func (a *api) call(ctx context.Context, method, path string, arguments map[string]any, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.Server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	a.sign(request)
	response, err := a.send(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return readAnswer(response, answer)
}

// sign adds the credentials to a request.
func (a *api) sign(request *http.Request) {
	request.Header.Set("Authorization", "Bearer "+string(a.Token))
	request.Header.Set("Client-Id", a.Client)
	request.Header.Set("Content-Type", "application/json")
}

// send sends a request to a server.
func (a *api) send(request *http.Request) (*http.Response, error) {
	if a.client == nil {
		client, err := a.httpClient()
		if err != nil {
			return nil, err
		}
		a.client = client
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, unreachable("the server", err, "start it, or name another with --server")
	}
	return response, nil
}

// readAnswer reads the envelope of a response. If the server reports no success, it
// returns an *apiError.
func readAnswer(response *http.Response, answer any) error {
	var envelope struct {
		Success *bool
		Message string
		Data    json.RawMessage
	}
	if json.NewDecoder(response.Body).Decode(&envelope) != nil || envelope.Success == nil {
		return fmt.Errorf("%s responded with %s, which is not Moderato's REST API; check --server", response.Request.URL.Host, response.Status)
	}
	if *envelope.Success {
		if answer == nil {
			return nil
		}
		return json.Unmarshal(envelope.Data, answer)
	}
	var why struct {
		Code       string
		Violations []struct{ Field string }
		WebhookID  string
	}
	if err := json.Unmarshal(envelope.Data, &why); err != nil {
		return err
	}
	refusal := &apiError{message: envelope.Message, code: why.Code, webhook: why.WebhookID}
	for _, v := range why.Violations {
		refusal.fields = append(refusal.fields, v.Field)
	}
	return refusal
}
