package authz

import (
	"fmt"
	"iter"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/moderato-live/moderato/gen/moderato/options/v1"
	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/rpc/authn"
)

// Table holds the rule of each method, as the contract declares it with the options
// policy and default_policy. A server does not start if a method that it serves has no
// rule.
var Table = table()

// contract holds the files with services.
var contract = []protoreflect.FileDescriptor{
	moderatov1.File_moderato_v1_moderation_proto, moderatov1.File_moderato_v1_channels_proto,
	moderatov1.File_moderato_v1_watch_proto, moderatov1.File_moderato_v1_webhooks_proto,
	moderatov1.File_moderato_v1_users_proto, moderatov1.File_moderato_v1_tickets_proto,
	moderatov1.File_moderato_v1_chat_proto, moderatov1.File_moderato_v1_subscriptions_proto,
	moderatov1.File_moderato_v1_tokens_proto, moderatov1.File_moderato_v1_rules_proto, moderatov1.File_moderato_v1_held_proto,
	platformv1.File_moderato_platform_v1_access_proto, platformv1.File_moderato_platform_v1_authorization_proto,
	platformv1.File_moderato_platform_v1_audience_proto,
	platformv1.File_moderato_platform_v1_chat_proto, platformv1.File_moderato_platform_v1_content_proto,
	platformv1.File_moderato_platform_v1_directory_proto, platformv1.File_moderato_platform_v1_import_proto,
	platformv1.File_moderato_platform_v1_stream_proto,
}

// public holds the services for operators and load balancers, which need no token.
var public = []protoreflect.FileDescriptor{
	healthv1.File_grpc_health_v1_health_proto,
	reflectionv1.File_grpc_reflection_v1_reflection_proto,
	reflectionv1alpha.File_grpc_reflection_v1alpha_reflection_proto,
}

func table() map[string]Rule {
	rules := map[string]Rule{}
	for method := range Methods() {
		if declared := policyOf(method); declared != nil {
			rules[nameOf(method)] = ruleOf(declared)
		}
	}
	for _, file := range public {
		for method := range methods(file) {
			rules[nameOf(method)] = Rule{Public: true}
		}
	}
	return rules
}

// Methods yields the methods of the contract, in its order.
func Methods() iter.Seq[protoreflect.MethodDescriptor] {
	return func(yield func(protoreflect.MethodDescriptor) bool) {
		for _, file := range contract {
			for method := range methods(file) {
				if !yield(method) {
					return
				}
			}
		}
	}
}

// methods yields the methods of all services of a file.
func methods(file protoreflect.FileDescriptor) func(func(protoreflect.MethodDescriptor) bool) {
	return func(yield func(protoreflect.MethodDescriptor) bool) {
		services := file.Services()
		for i := range services.Len() {
			methods := services.Get(i).Methods()
			for j := range methods.Len() {
				if !yield(methods.Get(j)) {
					return
				}
			}
		}
	}
}

// nameOf returns the full method name in gRPC.
func nameOf(m protoreflect.MethodDescriptor) string {
	return fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
}

// policyOf returns the policy that the contract declares for a method, or else for its
// service. It returns nil if there is none.
func policyOf(m protoreflect.MethodDescriptor) *optionsv1.Policy {
	if proto.HasExtension(m.Options(), optionsv1.E_Policy) {
		declared, _ := proto.GetExtension(m.Options(), optionsv1.E_Policy).(*optionsv1.Policy)
		return declared
	}
	if service := m.Parent().Options(); proto.HasExtension(service, optionsv1.E_DefaultPolicy) {
		declared, _ := proto.GetExtension(service, optionsv1.E_DefaultPolicy).(*optionsv1.Policy)
		return declared
	}
	return nil
}

var kinds = map[optionsv1.Token]authn.Kind{
	optionsv1.Token_TOKEN_USER:    authn.User,
	optionsv1.Token_TOKEN_APP:     authn.App,
	optionsv1.Token_TOKEN_SERVICE: authn.Service,
}

func ruleOf(declared *optionsv1.Policy) Rule {
	rule := Rule{Scope: declared.GetScope(), AlternativeScope: declared.GetAlternativeScope(), Relation: declared.GetRelation()}
	for _, token := range declared.GetTokens() {
		rule.Tokens = append(rule.Tokens, kinds[token])
	}
	return rule
}
