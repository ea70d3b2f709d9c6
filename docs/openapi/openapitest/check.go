package openapitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/moderato-live/moderato/docs/openapi"
)

const eventsPath = "/v1/events"

// ofHTTP are headers of HTTP itself, which the document leaves out.
var ofHTTP = []string{
	"Allow", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Pragma", "Vary",
	"Accept-Ranges", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin",
	"Access-Control-Expose-Headers", "Access-Control-Max-Age",
}

// check compares an exchange with the document.
func (d *Document) check(x *exchange) error {
	if x.header == nil {
		x.header = x.Header().Clone()
	}
	method := x.request.Method
	switch method {
	case http.MethodOptions:
		return nil
	case http.MethodHead:
		method = http.MethodGet
	}
	operation := "/paths/" + escape.Replace(d.library.pathOf(x.request.URL.Path)) + "/" + strings.ToLower(method)
	if found, _ := d.at(operation); found == nil || x.request.URL.RawPath != "" || strings.ToUpper(method) != method {
		return d.checkUnrouted(x)
	}
	response, pointer := d.at(operation + "/responses/" + strconv.Itoa(x.status))
	if response == nil {
		return errors.New("the status is not documented")
	}
	if err := d.checkHeaders(x.header, pointer, response); err != nil {
		return err
	}
	if x.request.Method == http.MethodHead {
		return nil
	}
	if err := d.checkBody(x, pointer, response); err != nil {
		return err
	}
	if x.status < http.StatusMultipleChoices {
		if err := d.checkRequest(x, operation); err != nil {
			return fmt.Errorf("the request was accepted: %w", err)
		}
	}
	return d.library.check(x)
}

// codeOf returns the code of an error body, or an empty text.
func codeOf(body []byte) string {
	var failure struct{ Data struct{ Code string } }
	_ = json.Unmarshal(body, &failure)
	return failure.Data.Code
}

// checkUnrouted checks the response to a request that no operation handles.
func (d *Document) checkUnrouted(x *exchange) error {
	var failure struct{ Data struct{ Code string } }
	if x.request.Method == http.MethodHead {
		return nil
	}
	if err := json.Unmarshal(x.body.Bytes(), &failure); err != nil {
		return fmt.Errorf("the operation is not documented: %w", err)
	}
	if code := failure.Data.Code; !slices.Contains([]string{"PATH_NOT_FOUND", "METHOD_NOT_ALLOWED", "HEADERS_TOO_LARGE", "INTERNAL"}, code) {
		return fmt.Errorf("the operation is not documented, and the code is %q", code)
	}
	return d.checkSchema("Error", x.body.Bytes())
}

// checkHeaders checks that all headers of a response are documented, and those that must be
// there are.
func (d *Document) checkHeaders(header http.Header, pointer string, response map[string]any) error {
	described, _ := response["headers"].(map[string]any)
	known := map[string]bool{}
	for name := range described {
		known[http.CanonicalHeaderKey(name)] = true
		schema, at := d.at(pointer + "/headers/" + name)
		values := header.Values(name)
		if schema["required"] == true && len(values) == 0 {
			return fmt.Errorf("the header %s is missing", name)
		}
		for _, value := range values {
			if err := d.validateText(at+"/schema", value); err != nil {
				return fmt.Errorf("the header %s: %w", name, err)
			}
		}
	}
	for name := range header {
		if !known[name] && !slices.Contains(ofHTTP, name) {
			return fmt.Errorf("the header %s is not documented", name)
		}
	}
	return nil
}

// validateText checks the text of a header or parameter.
func (d *Document) validateText(pointer, text string) error {
	schema, pointer := d.at(pointer)
	if schema["type"] == "integer" {
		return d.validate(pointer, json.Number(text))
	}
	return d.validate(pointer, text)
}

// checkBody checks the media type and the body of a response.
func (d *Document) checkBody(x *exchange, pointer string, response map[string]any) error {
	body, err := decoded(x.header, x.body.Bytes())
	if err != nil || (len(body) == 0 && x.stream == nil) {
		return err
	}
	mediaType, _, err := mime.ParseMediaType(x.header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content, _ := response["content"].(map[string]any)
	switch {
	case content[mediaType] == nil:
		return fmt.Errorf("the media type %s is not documented", mediaType)
	case mediaType != "application/json", x.request.URL.Path == openapi.JSONPath:
		return nil
	}
	return d.checkJSON(pointer+"/content/"+escape.Replace(mediaType)+"/schema", body)
}

// decoded returns a body without its compression.
func decoded(header http.Header, body []byte) ([]byte, error) {
	if !strings.HasSuffix(strings.ToLower(header.Get("Content-Encoding")), "gzip") || len(body) == 0 {
		return body, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// checkRequest checks a request that the server accepted.
func (d *Document) checkRequest(x *exchange, pointer string) error {
	operation, _ := d.at(pointer)
	parameters, _ := operation["parameters"].([]any)
	query := x.request.URL.Query()
	for i, p := range parameters {
		parameter, _ := p.(map[string]any)
		if parameter["in"] != "query" { // headers are free texts
			continue
		}
		if err := d.checkParameter(query, parameter, fmt.Sprintf("%s/parameters/%d/schema", pointer, i)); err != nil {
			return err
		}
	}
	if operation["requestBody"] == nil {
		return nil
	}
	body, err := decoded(x.request.Header, x.sent.Bytes())
	if err != nil {
		return err
	}
	content := pointer + "/requestBody/content/"
	if mediaType, _, _ := mime.ParseMediaType(x.request.Header.Get("Content-Type")); mediaType != "application/json" {
		return d.checkForm(content+escape.Replace(mediaType)+"/schema", string(body))
	}
	return d.checkJSON(content+"application~1json/schema", bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
}

// checkParameter checks the values of a parameter of the query. An empty value counts as not
// given.
func (d *Document) checkParameter(query url.Values, parameter map[string]any, pointer string) error {
	name, _ := parameter["name"].(string)
	values := slices.DeleteFunc(slices.Clone(query[name]), func(v string) bool { return v == "" })
	if len(values) == 0 {
		if parameter["required"] == true {
			return fmt.Errorf("the parameter %s is missing", name)
		}
		return nil
	}
	if !strings.HasSuffix(name, "[]") {
		if err := d.validateText(pointer, values[0]); err != nil {
			return fmt.Errorf("the parameter %s: %w", name, err)
		}
		return nil
	}
	for _, value := range values {
		if err := d.validateText(pointer+"/items", value); err != nil {
			return fmt.Errorf("the parameter %s: %w", name, err)
		}
	}
	return nil
}

// checkForm checks a form.
func (d *Document) checkForm(pointer, body string) error {
	if schema, _ := d.at(pointer); schema == nil {
		return errors.New("the media type is not documented")
	}
	form, err := url.ParseQuery(body)
	if err != nil {
		return err
	}
	value := map[string]any{}
	for name := range form {
		value[name] = form.Get(name)
	}
	return d.validate(pointer, value)
}
