package apierr

import (
	"strings"

	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
)

// conditions holds the status of each reason, as the contract declares it.
var conditions = declared()

func declared() map[moderatov1.Reason]*optionsv1.Status {
	all := map[moderatov1.Reason]*optionsv1.Status{}
	values := moderatov1.Reason(0).Descriptor().Values()
	for i := range values.Len() {
		value := values.Get(i)
		if status, ok := proto.GetExtension(value.Options(), optionsv1.E_Status).(*optionsv1.Status); ok && status != nil {
			all[moderatov1.Reason(value.Number())] = status
		}
	}
	return all
}

// Code returns the code of a reason that clients see: its name without the prefix.
func Code(r moderatov1.Reason) string { return strings.TrimPrefix(r.String(), "REASON_") }

// HelpPath returns the path of the section of the documentation about a reason.
func HelpPath(r moderatov1.Reason) string { return "/docs/errors#" + Code(r) }

// FromCode returns the reason with a code, or REASON_UNSPECIFIED.
func FromCode(code string) moderatov1.Reason {
	return moderatov1.Reason(moderatov1.Reason_value["REASON_"+code])
}

// HTTPStatus returns the HTTP status of a reason.
func HTTPStatus(r moderatov1.Reason) int { return int(conditions[r].GetHttp()) }
