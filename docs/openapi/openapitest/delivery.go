package openapitest

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

// ofDelivery are headers of HTTP itself that a delivery has.
var ofDelivery = []string{"Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"}

// CheckDelivery checks a delivery that a webhook received.
func CheckDelivery(t testing.TB, header http.Header, body []byte) {
	t.Helper()
	const differs = "not as in docs/openapi/openapi.json: "
	d := served()
	var event struct {
		Metadata struct{ SubscriptionType string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Errorf("a delivery: %v", err)
		return
	}
	kind := event.Metadata.SubscriptionType
	pointer := "/webhooks/" + escape.Replace(kind) + "/post"
	webhook, _ := d.at(pointer)
	if webhook == nil {
		t.Errorf(differs+"it has no webhook %q", kind)
		return
	}
	if err := d.checkJSON(pointer+"/requestBody/content/application~1json/schema", body); err != nil {
		t.Errorf(differs+"%v", err)
	}
	documented := slices.Clone(ofDelivery)
	parameters, _ := webhook["parameters"].([]any)
	for i := range parameters {
		reference, _ := parameters[i].(map[string]any)
		to, _ := reference["$ref"].(string)
		parameter, at := d.at(to[1:])
		name, _ := parameter["name"].(string)
		documented = append(documented, http.CanonicalHeaderKey(name))
		if err := d.validateText(at+"/schema", header.Get(name)); err != nil || header.Get(name) == "" {
			t.Errorf(differs+"the header %s of a delivery: %v", name, err)
		}
	}
	for name := range header {
		if !slices.Contains(documented, name) {
			t.Errorf(differs+"a delivery of %s has the header %s", kind, name)
		}
	}
}
