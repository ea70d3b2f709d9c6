package access

import (
	"context"

	"google.golang.org/protobuf/proto"

	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
)

// TokensService serves TokensService. It answers from the caller of the call, without the
// database.
type TokensService struct {
	moderatov1.UnsafeTokensServiceServer
}

// GetSelf returns what the token of the call is and what it permits.
func (TokensService) GetSelf(ctx context.Context, _ *moderatov1.GetSelfRequest) (*moderatov1.GetSelfResponse, error) {
	return DescribeToken(authn.FromContext(ctx)), nil
}

// DescribeToken returns what the token of a caller is and what it permits.
func DescribeToken(c *authn.Caller) *moderatov1.GetSelfResponse {
	self := &moderatov1.GetSelfResponse{ClientId: c.ClientID, Kind: string(c.Kind), Scopes: c.Scopes()}
	if c.ActsAsUser() {
		self.UserId = proto.String(c.UserID.String())
	}
	if c.ExpiresAt != nil {
		self.ExpiresAt = c.ExpiresAt.Proto()
	}
	for method, rule := range authz.Permitted(c) {
		operation := &moderatov1.PermittedOperation{
			Name:     string(method.Parent().FullName()) + "/" + string(method.Name()),
			Relation: nullable(rule.RelationName()),
		}
		if verb, path := authz.HTTP(method); path != "" {
			operation.Method, operation.Path = &verb, &path
		}
		self.Operations = append(self.Operations, operation)
	}
	return self
}

// nullable returns a text, or nil if it is empty.
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
