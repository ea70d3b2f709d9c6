package servertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	pathpkg "path"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/moderato-live/moderato/server/rpc/authz"
)

// Args holds the arguments of an operation by their JSON names: strings, numbers, and
// slices for repeated fields.
type Args map[string]any

// Outcome is the result of a call over either transport: the reason of its error with the
// error's details, or OK.
type Outcome struct {
	Reason     string
	Violations []string // "field description"
	Metadata   map[string]string
}

// CallREST calls an operation over REST.
func (s *Server) CallREST(t *testing.T, c Credentials, method, path string, args Args) (Response, Outcome) {
	t.Helper()
	body := ""
	if method == http.MethodGet {
		path += "?" + args.query().Encode()
	} else {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	r := s.REST(t, c, method, path, body)
	return r, r.outcome(t)
}

func (a Args) query() url.Values {
	values := url.Values{}
	for name, value := range a {
		switch v := value.(type) {
		case []string:
			values[name+"[]"] = v
		case []int64:
			for _, n := range v {
				values.Add(name+"[]", fmt.Sprint(n))
			}
		default:
			values.Set(name, fmt.Sprint(v))
		}
	}
	return values
}

// ReasonOf returns the reason of the error in a response, or OK.
func ReasonOf(t *testing.T, r Response) string {
	t.Helper()
	return r.outcome(t).Reason
}

func (r Response) outcome(t *testing.T) Outcome {
	t.Helper()
	if r.Status == http.StatusOK {
		return Outcome{Reason: "OK"}
	}
	var body struct {
		Data struct {
			Code           string
			RequestID      string
			Violations     []struct{ Field, Description string }
			MuteExpiresAt  string
			RequiredScope  string
			AcceptedTokens []string
			WebhookID      string
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		t.Fatalf("%v in %s", err, r.Body)
	}
	o := Outcome{Reason: body.Data.Code, Metadata: map[string]string{}}
	for _, v := range body.Data.Violations {
		o.Violations = append(o.Violations, v.Field+" "+v.Description)
	}
	for name, value := range map[string]string{
		"muteExpiresAt": body.Data.MuteExpiresAt, "requiredScope": body.Data.RequiredScope,
		"acceptedTokens": strings.Join(body.Data.AcceptedTokens, ","),
		"webhookId":      body.Data.WebhookID,
	} {
		if value != "" {
			o.Metadata[name] = value
		}
	}
	return o
}

// CallGRPC calls the operation with an HTTP method and path over gRPC.
func (s *Server) CallGRPC(t *testing.T, c Credentials, method, path string, args Args) (proto.Message, Outcome) {
	t.Helper()
	rpc := findRPC(t, method, path)
	request, response := NewMessage(t, rpc.Input()), NewMessage(t, rpc.Output())
	text, err := json.Marshal(args)
	if err == nil {
		err = protojson.Unmarshal(text, request)
	}
	if err != nil {
		t.Fatalf("%s: %v", rpc.FullName(), err)
	}
	name := fmt.Sprintf("/%s/%s", rpc.Parent().FullName(), rpc.Name())
	return response, OutcomeOf(s.Conn.Invoke(c.Context(), name, request, response))
}

// OutcomeOf returns the outcome of a gRPC call that returned err.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Outcome{Reason: "OK"}
	}
	o := Outcome{Reason: err.Error(), Metadata: map[string]string{}}
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			o.Reason = d.GetReason()
			for name, value := range d.GetMetadata() {
				o.Metadata[name] = value
			}
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				o.Violations = append(o.Violations, v.GetField()+" "+v.GetDescription())
			}
		}
	}
	return o
}

// variable matches a variable in the path of an annotation.
var variable = regexp.MustCompile(`\{\w+\}`)

// findRPC returns the RPC whose HTTP annotation has a method and path.
func findRPC(t *testing.T, method, path string) protoreflect.MethodDescriptor {
	t.Helper()
	for rpc := range authz.Methods() {
		verb, pattern := authz.HTTP(rpc)
		if matches, _ := pathpkg.Match(variable.ReplaceAllString(pattern, "*"), path); verb == method && matches {
			return rpc
		}
	}
	t.Fatalf("no operation is at %s %s", method, path)
	return nil
}

// NewMessage returns an empty message of a type.
func NewMessage(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return kind.New().Interface()
}
