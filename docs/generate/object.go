package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// ref returns a reference to a component.
func ref(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }

// with returns the object and further members.
func (o object) with(more ...member) object { return append(o[:len(o):len(o)], more...) }

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		text.Write(append(append(name, ':'), value...))
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// unmarshal decodes JSON. Objects keep their order.
func unmarshal(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decode(decoder)
}

func decode(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := decode(decoder)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(name), value})
		}
		_, err = decoder.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			value, err := decode(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = decoder.Token()
		return list, err
	}
	return token, nil
}

// toYAML converts JSON, in its order.
func toYAML(text []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	unquote(&root)
	var converted bytes.Buffer
	encoder := yaml.NewEncoder(&converted)
	encoder.SetIndent(2)
	if err := encoder.Encode(&root); err != nil {
		return nil, err
	}
	return converted.Bytes(), encoder.Close()
}

// unquote gives nodes that were read from JSON the usual style of YAML.
func unquote(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		unquote(child)
	}
}
