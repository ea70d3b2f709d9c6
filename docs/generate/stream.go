package main

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// eventsPath is where the facade serves WatchEvents as Server-Sent Events.
const eventsPath = "/v1/events"

// streamText describes the messages of the stream, which OpenAPI 3.1 cannot.
const streamText = "A stream of Server-Sent Events:\n\n" +
	"- A message without a name is an event. Its `data` is `Event`. Its `id` is the cursor with which to resume after it; a live event has none.\n" +
	"- `missed`: the listener lost live messages. Its `data` is `MissedMessages`.\n" +
	"- `end`: the stream ends with an error. Its `data` is `Error`.\n" +
	"- A message with an `id` alone is a heartbeat. The first one begins the stream; another one follows whenever there was nothing to send for 15 s. Its `id` is the cursor from which to resume.\n\n" +
	"`retry` is the time in milliseconds after which a browser reconnects."

// stream returns the operation of WatchEvents.
func (d *document) stream(method protoreflect.MethodDescriptor) object {
	rule := ruleOf(method)
	all := d.errorsOf(method)
	query := append(d.query(method, "GET"),
		object{
			{"name", "lastEventId"}, {"in", "query"}, {"schema", object{{"type", "string"}}},
			{"description", "The same as the header Last-Event-ID, for clients that cannot send headers."},
		},
		object{
			{"name", "Last-Event-ID"}, {"in", "header"}, {"schema", object{{"type", "string"}}},
			{"description", "The `id` of the last message that was handled. The stream resumes after it. A browser sends it when it reconnects. It is used instead of `cursor`."},
		})
	example := "retry: 2000\n: listening\nid: " + exampleCursor + "\n\n"
	for _, e := range events() {
		if e.GetName() == "channel.ban" {
			text, err := marshal(d.eventExample(e))
			if err != nil {
				panic(err) // strings and numbers only
			}
			example += "id: " + exampleCursor + "\ndata: " + string(text) + "\n\n"
		}
	}
	headers := append([]string{"X-Request-Id", "X-Accel-Buffering"}, rateLimitHeaders...)
	ok := object{
		{"description", streamText},
		{"headers", d.headers(headers...)},
		{"content", object{{"text/event-stream", object{
			{"schema", object{
				{"type", "string"}, {"contentMediaType", "text/event-stream"},
				{"contentSchema", object{{"anyOf", []object{ref("schemas", "Event"), ref("schemas", "MissedMessages"), ref("schemas", "Error")}}}},
			}},
			{"example", example},
		}}}},
	}
	return object{
		{"operationId", operationID(method)},
		{"summary", words(string(method.Name()))},
		{"description", d.describe(method)},
		{"tags", []string{tagOf(method)}},
		{"security", append(securityOf(rule), object{{eventTicket, []string{}}})},
		{"parameters", append(query, requestHeaders()...)},
		{"responses", append(object{{"200", ok}}, d.errorResponses(all, rule)...)},
	}
}
