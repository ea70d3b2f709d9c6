package main

import (
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// condition is an error as docs/errors.md describes it.
type condition struct {
	code, http, grpc, message string
	// meaning and advice are the paragraphs of its comment.
	meaning, advice string
}

// conditions returns the errors in the order of the contract.
func conditions(c *comments) ([]condition, error) {
	var all []condition
	values := moderatov1.Reason(0).Descriptor().Values()
	for i := range values.Len() {
		status, _ := proto.GetExtension(values.Get(i).Options(), optionsv1.E_Status).(*optionsv1.Status)
		if status == nil {
			continue
		}
		r := condition{
			code: strings.TrimPrefix(string(values.Get(i).Name()), "REASON_"), message: status.GetText(),
			http: fmt.Sprint(status.GetHttp()), grpc: code.Code_name[int32(status.GetGrpc())],
		}
		switch status.GetOnly() {
		case optionsv1.Transport_TRANSPORT_REST:
			r.grpc = ""
		case optionsv1.Transport_TRANSPORT_GRPC:
			r.http = ""
		}
		paragraphs := strings.Split(c.of(values.Get(i)), "\n\n")
		if len(paragraphs) != 2 {
			return nil, fmt.Errorf("the comment of %s needs two paragraphs: what happened, and what to do next", values.Get(i).Name())
		}
		r.meaning, r.advice = paragraphs[0], paragraphs[1]
		all = append(all, r)
	}
	return all, nil
}

// errorsPart returns the generated part of docs/errors.md.
func errorsPart(c *comments) (string, error) {
	all, err := conditions(c)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprint(&out, "## Codes\n\n| code | status |\n|---|---|\n")
	for _, r := range all {
		fmt.Fprintf(&out, "| [%s](#%s) | %s |\n", r.code, r.code, r.statuses())
	}
	for _, r := range all {
		fmt.Fprintf(&out, "\n### `%s`\n\n%s.\n\n> %s\n\n%s\n\n**What to do next:** %s\n", r.code, r.statuses(), strings.ReplaceAll(r.message, "<", `\<`), r.meaning, r.advice)
	}
	return out.String(), nil
}

// statuses describes the statuses with which the transports send the error.
func (r condition) statuses() string {
	switch {
	case r.grpc == "":
		return "HTTP " + r.http + " (REST only)"
	case r.http == "":
		return "gRPC " + r.grpc + " (gRPC only)"
	}
	return "HTTP " + r.http + ", gRPC " + r.grpc
}
