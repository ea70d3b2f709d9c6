package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is what the reference shows of an OpenAPI document.
type document struct {
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      ordered[ordered[operationObject]] `json:"paths"`
	Components struct {
		Schemas    map[string]*schema   `json:"schemas"`
		Parameters map[string]parameter `json:"parameters"`
	} `json:"components"`
}

type operationObject struct {
	ID          string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Tags        []string              `json:"tags"`
	Deprecated  bool                  `json:"deprecated"`
	Security    []map[string][]string `json:"security"`
	Parameters  []parameter           `json:"parameters"`
	RequestBody struct {
		Content ordered[media] `json:"content"`
	} `json:"requestBody"`
	Responses ordered[response] `json:"responses"`
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string `json:"name"`
	In          string `json:"in"`
	Required    bool   `json:"required"`
	Description string `json:"description"`
	Schema      schema `json:"schema"`
	Example     any    `json:"example"`
}

// exampleText returns the example as one enters it: the values of a list with commas.
func (p parameter) exampleText() string {
	switch example := p.Example.(type) {
	case nil:
		return ""
	case []any:
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(example)), ","), "[]")
	default:
		return fmt.Sprint(example)
	}
}

type response struct {
	Ref         string         `json:"$ref"`
	Description string         `json:"description"`
	Content     ordered[media] `json:"content"`
}

type media struct {
	Schema  schema          `json:"schema"`
	Example json.RawMessage `json:"example"`
}

type schema struct {
	Ref         string          `json:"$ref"`
	Type        oneOrMore       `json:"type"`
	Description string          `json:"description"`
	Properties  ordered[schema] `json:"properties"`
	Required    []string        `json:"required"`
	Items       *schema         `json:"items"`
	AllOf       []schema        `json:"allOf"`
	AnyOf       []schema        `json:"anyOf"`
	OneOf       []schema        `json:"oneOf"`
	Enum        []any           `json:"enum"`
}

// member is a member of an object.
type member[T any] struct {
	Name  string
	Value T
}

// ordered is an object whose order is kept: that of the document is the contract's.
type ordered[T any] []member[T]

// UnmarshalJSON decodes an object.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		m := member[T]{}
		m.Name, _ = name.(string)
		if err := decoder.Decode(&m.Value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

// UnmarshalJSON decodes a text or a list of texts.
func (l *oneOrMore) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(l))
	}
	*l = make([]string, 1)
	return json.Unmarshal(text, &(*l)[0])
}

// resolved returns the schema to which s refers, with the description of s if it has one.
func (d *document) resolved(s schema) schema {
	if len(s.AllOf) == 1 && s.Ref == "" {
		s.Ref = s.AllOf[0].Ref
	}
	for _, choice := range slices.Concat(s.AnyOf, s.OneOf) {
		if choice.Ref != "" && s.Ref == "" { // an object or null
			s.Ref, s.Type = choice.Ref, append(s.Type, "null")
		}
	}
	found := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	if found == nil {
		return s
	}
	resolved := d.resolved(*found)
	if s.Description != "" {
		resolved.Description = s.Description
	}
	if slices.Contains(s.Type, "null") {
		resolved.Type = append(slices.Clone(resolved.Type), "null")
	}
	return resolved
}

// maxDepth bounds the objects within objects that the reference lists.
const maxDepth = 6

// fieldsOf returns the fields of an object and those of objects within it.
func (d *document) fieldsOf(s schema, prefix string, depth int) []field {
	s = d.resolved(s)
	if s.Items != nil {
		return d.fieldsOf(*s.Items, prefix, depth)
	}
	var all []field
	for _, property := range s.Properties {
		p := d.resolved(property.Value)
		all = append(all, field{
			Name: prefix + property.Name, Type: d.typeOf(p), Required: slices.Contains(s.Required, property.Name),
			description: p.Description, choices: p.Enum,
		})
		if depth < maxDepth {
			inner := prefix + property.Name + "."
			if p.Items != nil {
				inner = prefix + property.Name + "[]."
			}
			all = append(all, d.fieldsOf(p, inner, depth+1)...)
		}
	}
	return all
}

// typeOf describes the type of a value.
func (d *document) typeOf(s schema) string {
	names := slices.Clone(s.Type)
	if s.Items != nil {
		names = []string{"array of " + d.typeOf(d.resolved(*s.Items))}
	}
	return strings.Join(names, " or ")
}

// parameterOf returns a parameter, which may be a reference.
func (d *document) parameterOf(p parameter) parameter {
	if p.Ref == "" {
		return p
	}
	return d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
}
