package main

import (
	"fmt"

	"github.com/moderato-live/moderato/docs/openapi"
	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// introduction says what is true of all operations.
const introduction = "Moderato's REST API. Requests and responses are JSON.\n\n" +
	"**Envelope.** Every response of an operation at `/v1` is `{\"success\": true, \"message\": \"success\", \"data\": …}`; an operation that returns nothing has no `data`. An error has `success` false, a `message` for people, and in `data` a `code` for programs and the id of the request. Each operation lists its errors.\n\n" +
	"**Values.** Ids are UUIDs, in lower case in responses. Times are UTC with milliseconds. Integers are JSON numbers. Responses contain all fields; a field that has no value is null if its description says so. In requests, a field that is null or an empty string counts as not given, and fields that are not known are ignored unless they look like misspelt ones. Later versions may add fields and codes.\n\n" +
	"**Requests.** DELETE has its arguments in the body. HEAD is served wherever GET is. Any other method is 405 METHOD_NOT_ALLOWED with the header `Allow`, and any other path is 404 PATH_NOT_FOUND. An array in a query is written `slug[]=a&slug[]=b`.\n\n" +
	"**Pages.** `pagination.cursor` is the `cursor` of the request for the next page, and is empty on the last page. Lists whose data is an array are complete unless a page is requested with `limit` or `cursor`; the header `Link` then has the address of the next page.\n\n" +
	"**Changes.** A change and its events are one transaction. After 504, or if the connection broke, it may or may not have happened: repeat the call, or read the state."

const documentsTag = "Documents"

// itself returns the operations that serve this document.
func (d *document) itself() (paths object) {
	for _, served := range []struct{ path, mediaType, name, id string }{
		{openapi.JSONPath, openapi.JSONType, "JSON", "getOpenApiJson"}, {openapi.YAMLPath, openapi.YAMLType, "YAML", "getOpenApiYaml"},
	} {
		ok := object{
			{"description", "The document."}, {"headers", d.headers("X-Request-Id", "ETag")},
			{"content", object{{served.mediaType, object{{"schema", object{{"type", "object"}}}}}}},
		}
		unchanged := object{{"description", "The document is that of the ETag in If-None-Match."}, {"headers", d.headers("X-Request-Id", "ETag")}}
		paths = append(paths, member{served.path, object{{"get", object{
			{"operationId", served.id}, {"summary", "OpenAPI document in " + served.name},
			{"description", fmt.Sprintf("Returns this document in %s. It needs no token.", served.name)},
			{"tags", []string{documentsTag}}, {"security", []object{}},
			{"responses", append(object{{"200", ok}, {"304", unchanged}}, d.errorResponses(ofDocument, authz.Rule{})...)},
		}}}})
	}
	return paths
}

// ofDocument are the errors of a request for the document.
var ofDocument = []reason{moderatov1.Reason_REASON_INVALID_ARGUMENT, moderatov1.Reason_REASON_HEADERS_TOO_LARGE}

// isOverREST reports whether an error occurs over REST.
func isOverREST(r reason) bool { return statusOf(r).GetOnly() != optionsv1.Transport_TRANSPORT_GRPC }
