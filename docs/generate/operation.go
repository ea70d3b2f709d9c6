package main

import (
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// operation returns the operation of a method.
func (d *document) operation(method protoreflect.MethodDescriptor) object {
	rule, all := ruleOf(method), d.errorsOf(method)
	verb, _ := authz.HTTP(method)
	o := object{
		{"operationId", operationID(method)},
		{"summary", words(string(method.Name()))},
		{"description", d.describe(method)},
		{"tags", []string{tagOf(method)}},
	}
	if isDeprecated(method) {
		o = append(o, member{"deprecated", true})
	}
	o = append(o, member{"security", securityOf(rule)})
	parameters := append(d.query(method, verb), append([]object{ref("parameters", "ClientId")}, requestHeaders()...)...)
	if hasETag(method) {
		parameters = append(parameters, ref("parameters", "IfNoneMatch"))
	}
	if verb != http.MethodGet {
		parameters = append(parameters, ref("parameters", "IdempotencyKey"))
	}
	o = append(o, member{"parameters", parameters})
	if verb != http.MethodGet {
		o = append(o, member{"requestBody", object{
			{"required", true},
			{"content", object{{"application/json", object{
				{"schema", d.message(method.Input(), inRequest)},
				{"example", d.example(method.Input(), inRequest)},
			}}}},
		}})
	}
	responses := object{{"200", d.success(method)}}
	if hasETag(method) {
		responses = append(responses, member{"304", object{
			{"description", "The response is that of the ETag in If-None-Match."},
			{"headers", d.headers(append([]string{"X-Request-Id", "ETag"}, rateLimitHeaders...)...)},
		}})
	}
	return append(o, member{"responses", append(responses, d.errorResponses(all, rule, deprecation(method)...)...)})
}

// hasETag reports whether responses have the header ETag.
func hasETag(method protoreflect.MethodDescriptor) bool {
	has, _ := proto.GetExtension(method.Options(), optionsv1.E_HasEtag).(bool)
	return has
}

func isDeprecated(method protoreflect.MethodDescriptor) bool {
	return method.Options().(*descriptorpb.MethodOptions).GetDeprecated()
}

// deprecation returns the headers with which responses announce that the operation is
// deprecated; nil if it is not.
func deprecation(method protoreflect.MethodDescriptor) []string {
	if !isDeprecated(method) {
		return nil
	}
	return []string{"Deprecation", "Link"}
}

// tagOf returns the name of the service of a method without its suffix, such as
// "Event tickets".
func tagOf(method protoreflect.MethodDescriptor) string {
	return words(strings.TrimSuffix(string(method.Parent().Name()), "Service"))
}

// describe returns the comment of a method without its name: "Bans a user".
func (d *document) describe(method protoreflect.MethodDescriptor) string {
	_, text, _ := strings.Cut(d.comments.of(method), " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// query returns the parameters of a request without a body, those in the path among them.
func (d *document) query(method protoreflect.MethodDescriptor, verb string) []object {
	parameters := []object{}
	if verb != http.MethodGet {
		return parameters
	}
	_, path := authz.HTTP(method)
	for i := range method.Input().Fields().Len() {
		f := method.Input().Fields().Get(i)
		schema := d.values(f, inRequest, d.comments.of(f))
		p := object{{"name", f.JSONName()}, {"in", "query"}, {"description", d.comments.of(f)}}
		if strings.Contains(path, "{"+f.JSONName()+"}") {
			p[1].value = "path"
		}
		if f.IsList() {
			p[0].value = f.JSONName() + "[]"
			p = p.with(member{"style", "form"}, member{"explode", true})
		}
		if d.isRequired(f) {
			p = p.with(member{"required", true})
		}
		if d.isRequired(f) || isChosen(f) {
			p = p.with(member{"example", d.exampleOf(f, inRequest)})
		}
		if bounds := boundsOf(f); bounds.GetDefaultValue() != 0 && !isOptionalPage(method) {
			schema = schema.with(member{"default", bounds.GetDefaultValue()})
		}
		parameters = append(parameters, p.with(member{"schema", schema}))
	}
	return parameters
}

// isOptionalPage reports whether a method returns the complete list unless a page is
// requested.
func isOptionalPage(method protoreflect.MethodDescriptor) bool {
	return responseBody(method) != nil && method.Output().Fields().ByName("pagination") != nil
}

// responseBody returns the field that is the data of the response; nil if the whole message
// is.
func responseBody(method protoreflect.MethodDescriptor) protoreflect.FieldDescriptor {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	return method.Output().Fields().ByName(protoreflect.Name(rule.GetResponseBody()))
}

// success returns the response of a method that succeeds.
func (d *document) success(method protoreflect.MethodDescriptor) object {
	headers := append([]string{"X-Request-Id"}, rateLimitHeaders...)
	switch {
	case isDeprecated(method):
		headers = append(headers, deprecation(method)...)
	case isOptionalPage(method):
		headers = append(headers, "Link")
	}
	if hasETag(method) {
		headers = append(headers, "ETag")
	}
	if verb, _ := authz.HTTP(method); verb != http.MethodGet {
		headers = append(headers, "Idempotent-Replayed")
	}
	example := d.golden.bodies[snakeCase(string(method.Name()))]
	if example == nil {
		example = d.envelopeExample(method)
	}
	return object{
		{"description", "Success."},
		{"headers", d.headers(headers...)},
		{"content", object{{"application/json", object{{"schema", d.envelope(method)}, {"example", example}}}}},
	}
}

// envelope returns the schema of the response of a method.
func (d *document) envelope(method protoreflect.MethodDescriptor) object {
	properties := object{{"success", object{{"type", "boolean"}, {"const", true}}}, {"message", object{{"type", "string"}, {"const", "success"}}}}
	required := []string{"success", "message"}
	if list := responseBody(method); list != nil {
		properties = append(properties, member{"data", d.field(list, inResponse)})
		required = append(required, "data")
	} else if method.Output().Fields().Len() > 0 {
		properties = append(properties, member{"data", d.message(method.Output(), inResponse)})
		required = append(required, "data")
	}
	return object{{"type", "object"}, {"properties", properties}, {"required", required}}
}

func (d *document) envelopeExample(method protoreflect.MethodDescriptor) object {
	o := object{{"success", true}, {"message", "success"}}
	if list := responseBody(method); list != nil {
		return append(o, member{"data", d.exampleOf(list, inResponse)})
	}
	if method.Output().Fields().Len() > 0 {
		return append(o, member{"data", d.example(method.Output(), inResponse)})
	}
	return o
}

var upper = regexp.MustCompile(`\B[A-Z]`)

// snakeCase returns the name of the golden file of a method.
func snakeCase(name string) string {
	return strings.ToLower(upper.ReplaceAllString(name, "_$0"))
}
