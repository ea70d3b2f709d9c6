package jsonapi_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/jsonapi"
)

const (
	notInteger   = "must be an integer"
	notInt32     = "must be an integer between -2147483648 and 2147483647"
	notInt64     = "must be an integer between -9223372036854775808 and 9223372036854775807"
	notUint32    = "must be an integer between 0 and 4294967295"
	notUint64    = "must be an integer between 0 and 18446744073709551615"
	notTimestamp = "must be a timestamp such as 2026-01-31T18:00:00.000Z"
	notColor     = "must be one of COLOR_UNSPECIFIED, COLOR_RED, COLOR_BLUE"
	notDouble    = "must be a number between -1.7976931348623157e+308 and 1.7976931348623157e+308"
	twice        = "is given more than once"
	notKnown     = "is not a known field"
)

func TestUnmarshalRejectsValues(t *testing.T) {
	var kinds []string
	fields := (*platformv1.Record)(nil).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range fields.Len() {
		kinds = append(kinds, fields.Get(i).JSONName())
	}
	tests := []struct {
		name               string
		m                  proto.Message
		text               string
		field, description string
	}{
		{"a number for a string", empty(scalarType), `{"aString":1}`, "aString", "must be a string"},
		{"an object for a string", empty(scalarType), `{"aString":{"a":[1]}}`, "aString", "must be a string"},
		{"a string for a boolean", empty(scalarType), `{"aBool":"true"}`, "aBool", "must be true or false"},
		{"a string for an integer", empty(scalarType), `{"anInt64":"1"}`, "anInt64", notInteger},
		{"a fraction for an integer", empty(scalarType), `{"anInt32":1.5}`, "anInt32", notInteger},
		{"a negative exponent for an integer", empty(scalarType), `{"aUint32":15e-1}`, "aUint32", notInteger},
		{"a fraction that the exponent leaves", empty(scalarType), `{"aUint32":1.25e1}`, "aUint32", notInteger},
		{"a huge exponent for an integer", empty(scalarType), `{"aUint64":1e400}`, "aUint64", notUint64},
		{"an exponent beyond 64 bits", empty(scalarType), `{"anInt64":-100e99999999999999999999}`, "anInt64", notInt64},
		{"an exponent below 64 bits", empty(scalarType), `{"anInt64":100e-99999999999999999999}`, "anInt64", notInteger},
		{"a fraction beyond a double", empty(scalarType), `{"anInt64":9007199254740993.1}`, "anInt64", notInteger},
		{"a whole number with a fraction beyond 64 bits", empty(scalarType), `{"anInt64":9223372036854775808.0}`, "anInt64", notInt64},
		{"true for an integer", empty(scalarType), `{"anInt32":true}`, "anInt32", notInteger},
		{"more than 32 bits", empty(scalarType), `{"anInt32":2147483648}`, "anInt32", notInt32},
		{"less than 32 bits", empty(scalarType), `{"aSint32":-2147483649}`, "aSint32", notInt32},
		{"more than 64 bits", empty(scalarType), `{"anSfixed64":9223372036854775808}`, "anSfixed64", notInt64},
		{"negative number for an unsigned field", empty(scalarType), `{"aFixed32":-1}`, "aFixed32", notUint32},
		{"more than 64 bits unsigned", empty(scalarType), `{"aUint64":18446744073709551616}`, "aUint64", notUint64},
		{"very many digits", empty(scalarType), `{"anInt64":1` + strings.Repeat("0", 5000) + `}`, "anInt64", notInt64},
		{"a string for a number", empty(scalarType), `{"aDouble":"1"}`, "aDouble", "must be a number"},
		{"a number beyond a double", empty(scalarType), `{"aDouble":1e400}`, "aDouble", notDouble},
		{"a number beyond a float", empty(scalarType), `{"aFloat":-1e39}`, "aFloat",
			"must be a number between -3.4028235e+38 and 3.4028235e+38"},
		{"bytes that are not base64", empty(scalarType), `{"someBytes":"a-_="}`, "someBytes", "must be a base64 string"},
		{"bytes without padding", empty(scalarType), `{"someBytes":"YQ"}`, "someBytes", "must be a base64 string"},
		{"bytes with a line end", empty(scalarType), `{"someBytes":"YWJj\nYWJj"}`, "someBytes", "must be a base64 string"},
		{"an unknown enum name", empty(scalarType), `{"aColor":"RED"}`, "aColor", notColor},
		{"an enum number", empty(scalarType), `{"aColor":1}`, "aColor", notColor},
		{"a string for a message", empty(optType), `{"node":"x"}`, "node", "must be an object"},
		{"a field of a nested message", empty(optType), `{"node":{"child":{"name":1}}}`, "node.child.name", "must be a string"},
		{"null in an array of strings", &platformv1.GrantRecord{}, `{"scopes":["a",null]}`, "scopes[1]", "must be a string"},
		{"a number in an array of strings", &platformv1.GrantRecord{}, `{"scopes":["a","b",3]}`, "scopes[2]", "must be a string"},
		{"a string for an array", &platformv1.GrantRecord{}, `{"scopes":"a"}`, "scopes", "must be an array of strings"},
		{"an object for an array", empty(listType), `{"ints":{}}`, "ints", "must be an array of integers"},
		{"no array of enums", empty(listType), `{"colors":"COLOR_RED"}`, "colors", "must be an array of strings"},
		{"no array of messages", empty(listType), `{"nodes":{}}`, "nodes", "must be an array of objects"},
		{"no array of timestamps", empty(listType), `{"times":1}`, "times", "must be an array of timestamps"},
		{"no array of bytes", empty(listType), `{"bytes":1}`, "bytes", "must be an array of base64 strings"},
		{"no array of booleans", empty(listType), `{"bools":1}`, "bools", "must be an array of booleans"},
		{"no array of numbers", empty(listType), `{"doubles":1}`, "doubles", "must be an array of numbers"},
		{"no array of values", empty(listType), `{"values":1}`, "values", "must be an array of values"},
		{"no array of Structs", empty(listType), `{"structs":1}`, "structs", "must be an array of objects"},
		{"no array of arrays", empty(listType), `{"arrays":1}`, "arrays", "must be an array of arrays"},
		{"null in an array of messages", empty(listType), `{"nodes":[null]}`, "nodes[0]", "must be an object"},
		{"null in an array of timestamps", empty(listType), `{"times":[null]}`, "times[0]", notTimestamp},
		{"null in an array of Structs", empty(listType), `{"structs":[null]}`, "structs[0]", "must be an object"},
		{"an unknown enum name in an array", empty(listType), `{"colors":["COLOR_RED","x"]}`, "colors[1]", notColor},
		{"a field of a message in an array", empty(listType), `{"nodes":[{},{"moreNodes":[{"name":1}]}]}`,
			"nodes[1].moreNodes[0].name", "must be a string"},
		{"an array for a map", empty(mapType), `{"labels":[]}`, "labels", "must be an object"},
		{"a wrong value in a map", empty(mapType), `{"labels":{"a":"b","c":1}}`, "labels.c", "must be a string"},
		{"null in a map", empty(mapType), `{"labels":{"":null}}`, `labels.""`, "must be a string"},
		{"a key of a map twice", empty(mapType), `{"labels":{"a":"b","\u0061":"c"}}`, "labels.a", twice},
		{"non-integer key", empty(mapType), `{"byInt":{"01":"x"}}`, "byInt.01", "must have an integer as its key"},
		{"a key with white space", empty(mapType), `{"byInt":{" 1":"x"}}`, "byInt. 1", "must have an integer as its key"},
		{"a key of minus zero", empty(mapType), `{"byInt":{"-0":"x"}}`, "byInt.-0", "must have an integer as its key"},
		{"a key with a fraction", empty(mapType), `{"byInt":{"1.0":"x"}}`, "byInt.1.0", "must have an integer as its key"},
		{"a key beyond its type", empty(mapType), `{"byInt":{"2147483648":"x"}}`, "byInt.2147483648",
			"must have an integer between -2147483648 and 2147483647 as its key"},
		{"non-boolean key", empty(mapType), `{"byBool":{"yes":1}}`, "byBool.yes", "must have true or false as its key"},
		{"a field of a message in a map", empty(mapType), `{"nodes":{"x":{"name":1}}}`, "nodes.x.name", "must be a string"},
		{"two members of a oneof", empty(choiceType), `{"aNumber":1,"aText":""}`, "aText",
			"only one of aText, aNumber, aNode may be given"},
		{"a second record in a line", &platformv1.Record{}, `{"user":{},"role":{}}`, "role",
			"only one of " + strings.Join(kinds, ", ") + " may be given"},
		{"an array for a Struct", empty(freeType), `{"struct":[]}`, "struct", "must be an object"},
		{"an object for a ListValue", empty(freeType), `{"list":{}}`, "list", "must be an array of values"},
		{"a key of a Struct twice", empty(freeType), `{"struct":{"a":{"b":1,"b":2}}}`, "struct.a.b", twice},
		{"a number in a Value beyond a double", empty(freeType), `{"value":[1,1e400]}`, "value[1]", notDouble},
		{"a field twice", &moderatov1.UserSummary{}, `{"slug":"a","sl\u0075g":"a"}`, "slug", twice},
		{"a field twice with null", &moderatov1.UserSummary{}, `{"slug":null,"slug":"a"}`, "slug", twice},
		{"an unknown field twice", &moderatov1.UserSummary{}, `{"new":1,"n\u0065w":2}`, "new", twice},
		{"an object for a timestamp", empty(optType), `{"at":{"seconds":1}}`, "at", notTimestamp},
		{"a timestamp by itself", at("2026-01-31T18:00:00Z"), `{}`, "", notTimestamp},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := []jsonapi.Violation{{Field: test.field, Description: test.description}}
			checkViolations(t, test.m, test.text, jsonapi.Options{}, want)
		})
	}
}

func TestUnmarshalRejectsTimestamps(t *testing.T) {
	texts := []string{
		"", "now", "2026-01-31", "2026-01-31T18:00:00", "2026-01-31 18:00:00Z", "2026-01-31T18:00Z",
		"2026-01-31T8:00:00Z", "2026-01-31T18:00:00,5Z", "2026-01-31T18:00:00.Z", "2026-02-29T00:00:00Z",
		"2026-01-31T24:00:00Z", "2026-01-31T18:00:60Z", "2026-01-31T18:00:00+25:00", "2026-01-31T18:00:00+0100",
		"2026-01-31T18:00:00Z ", "+2026-01-31T18:00:00Z", "10000-01-01T00:00:00Z",
		"2026-00-31T18:00:00Z", "2026-13-01T18:00:00Z", "2026-01-00T18:00:00Z", "2026-01-31T18:60:00Z", "2026-01-31T18:00:00",
		"2026-01-31T18:00:00+01:60", "2026-01-31T18:00:00+1", "2026-01-31 18:00:00Z", "2026-01-31T18:00:00zz", "２026-01-31T18:00:00Z",
		"0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			checkViolations(t, &platformv1.MessageRecord{}, `{"sentAt":"`+text+`"}`, jsonapi.Options{},
				[]jsonapi.Violation{{Field: "sentAt", Description: notTimestamp}})
		})
	}
}

func TestUnmarshalRejectsUnknownFieldsIfConfigured(t *testing.T) {
	long := strings.Repeat("é", 65)
	text := `{"user":{"display_name":"x","Id":"y"},"":1,"` + long + `":2,"x.y":{"z":1,"z":2}}`
	checkViolations(t, &platformv1.Record{}, text, jsonapi.Options{RejectUnknown: true}, []jsonapi.Violation{
		{Field: "user.display_name", Description: notKnown},
		{Field: "user.Id", Description: notKnown},
		{Field: `""`, Description: notKnown},
		{Field: strings.Repeat("é", 64) + "…", Description: notKnown},
		{Field: "x.y", Description: notKnown},
	})
}

func TestErrorsDoNotRepeatValues(t *testing.T) {
	const secret = "hunter2"
	quoted := `"` + secret + `"`
	for _, name := range []string{"aDouble", "aBool", "anInt32", "aUint64", "someBytes", "aColor"} {
		for _, value := range []string{quoted, "[" + quoted + "]", `{"x":` + quoted + "}", quoted + " " + quoted, quoted + "}x"} {
			err := jsonapi.Unmarshal([]byte(`{"`+name+`":`+value+`}`), empty(scalarType), jsonapi.Options{})
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %s: got %v", name, value, err)
			}
		}
	}
}
