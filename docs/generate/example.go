package main

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/moderato-live/moderato/server/demo"
)

const (
	exampleEventID = "019aa123-4c00-7e5a-9b1f-2f6d3c8a7e10"
	exampleCursor  = "AUm3cX0vQ2pLr8dTn5yWkE1hZs6bGf9uJo4aRiP7xNtC"

	exampleEmoteID    = "5b1e0005-0000-4000-8000-000000000001"
	exampleEmoteName  = "GG"
	exampleEmoteImage = "https://img.example.com/emotes/gg.png"
	exampleRule       = "019aa123-4c00-7a44-8c6e-9d1b3f7a5e02"
	exampleHeld       = "019aa123-4c00-7c05-b7d2-4e8f6a9c1b3d"
	exampleText       = "Welcome to the stream! [emote:" + exampleEmoteID + "]"
)

// The people of the examples are the demo's, so that the examples of requests work there as
// they are.
var (
	cast = demo.People()

	exampleChannel = cast.Owner.ID.String()
	exampleViewer  = cast.Viewer.ID.String()
	exampleRaider  = cast.Raider.ID.String()
)

// exampleValues are examples of fields, by their names.
var exampleValues = map[string]any{
	"channelId": exampleChannel, "moderatorId": cast.Moderator.ID.String(),
	"userId": exampleViewer, "senderId": exampleViewer, "mutedUserId": exampleRaider, "targetUserId": exampleRaider,
	"banUsername": cast.Raider.Username, "username": cast.Viewer.Username, "displayName": cast.Viewer.DisplayName,
	"avatarUrl": "https://img.example.com/amara.okafor.png", "clientId": "dashboard", "clientName": "Dashboard",
	"messageId": "0b6f00a1-0000-4000-8000-00000000000a", "message": "Welcome to the stream!",
	"replyToMessageId": nil, "roles": "vip",
	"id": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7", "webhookId": "019aa123-4c00-7d11-9c0e-5f2a64c1b8d7", "eventId": exampleEventID,
	"batchId": "019aa123-4c00-7f60-8a51-3c9d0e7b2f14", "sessionId": "019aa123-4c00-7b22-8e3d-71f0a9c4d6e5", "ticket": "qJ7mV2sXbT9cLw4yKd8fRz1nHg6pUe3aOi5tQxYvCkE",
	"title": "Any% until it works", "lang": "en", "epoch": "all", "url": "https://hooks.example.com/moderato",
	"type": "channel.ban", "version": "1", "cursor": "", "scopes": "users.read",
	"phrase": "free gems", "withinSeconds": 600, "sweepToken": "4ZQ7XKTNBWJ5RLEMYFHOV2CSGD",
	"dryRun": true, "isOwner": false, "isModerator": false, "isFollower": true,
	"disabledReason": nil, "lastError": nil,
	"slowSeconds": 30, "followersOnlySeconds": -1, "minAccountAgeSeconds": 0, "uniqueSeconds": 0, "firstMessage": "allow", "exemptRoles": "vip",
	"setting": "slowSeconds", "holdSeconds": 600, "onHoldExpiry": "deny",
	"ruleId": exampleRule, "rules": exampleRule, "put": exampleRule, "delete": exampleRule, "deleted": nil, "ruleName": "Scams", "texts": "Free gems here!",
	"start": 0, "end": 9, "messageIds": exampleHeld, "claimedBy": nil, "claimedUntil": nil, "decision": "approve",
	"active": true, "startedBy": nil,
}

// exampleValuesOf are examples of fields whose name alone does not tell what they hold, by
// their full names.
var exampleValuesOf = map[protoreflect.FullName]any{
	"moderato.v1.ChatMessageEvent.message": exampleText, "moderato.v1.ChatMessage.message": exampleText,
	"moderato.v1.ChatSender.id":                              exampleViewer,
	"moderato.v1.UpdateChatSettingsRequest.duration_seconds": 600, "moderato.v1.ChatSettingsEvent.cause": "moderator",
	"moderato.v1.ChatEmote.id": exampleEmoteID, "moderato.v1.ChatEmote.name": exampleEmoteName, "moderato.v1.ChatEmote.image_url": exampleEmoteImage,
	"moderato.v1.ChatRule.name": "Scams", "moderato.v1.RulePreview.name": "Scams", "moderato.v1.ChatRule.kind": "terms", "moderato.v1.ChatRule.action": "hold",
	"moderato.v1.RulePreview.action": "hold", "moderato.v1.PreviewedMessage.action": "hold", "moderato.v1.ChatRule.message": nil,
	"moderato.v1.ChatRule.terms": "free gems", "moderato.v1.ChatRule.evasions": true, "moderato.v1.ChatRule.enabled": true, "moderato.v1.ChatRule.strikes": 0,
	"moderato.v1.ChatRule.expires_at": nil, "moderato.v1.ChatRule.mute_seconds": nil, "moderato.v1.ChatRule.exempt_followers_older_than_seconds": nil,
	"moderato.v1.ChatRule.allow": nil, "moderato.v1.ChatRule.patterns": nil, "moderato.v1.ChatRule.mode": nil, "moderato.v1.ChatRule.allow_domains": nil,
	"moderato.v1.ChatRule.block_domains": nil, "moderato.v1.ChatRule.min_length": nil, "moderato.v1.ChatRule.percent": nil, "moderato.v1.ChatRule.max_marks": nil,
	"moderato.v1.ChatRule.same_sender": nil, "moderato.v1.ChatRule.senders": nil, "moderato.v1.ChatRule.within_seconds": nil, "moderato.v1.ChatRule.max": nil,
	"moderato.v1.PreviewedMessage.text": "Free gems here!", "moderato.v1.HeldMessage.message_id": exampleHeld, "moderato.v1.HeldClaim.message_id": exampleHeld,
	"moderato.v1.HeldMessage.message": "Free gems here!", "moderato.v1.HeldMessage.status": "PENDING", "moderato.v1.HeldMessage.decided_by": nil,
	"moderato.v1.HeldMessage.decided_at": nil, "moderato.v1.HeldClaim.result": "CLAIMED", "moderato.v1.HeldDecision.message_id": exampleHeld,
	"moderato.v1.HeldDecisionResult.message_id": exampleHeld, "moderato.v1.HeldDecisionResult.result": "APPROVED", "moderato.v1.HeldDecisionResult.status": "APPROVED",
	"moderato.v1.ChatHoldEvent.message_id": exampleHeld, "moderato.v1.ChatHoldEvent.message": "Free gems here!", "moderato.v1.ChatHoldEvent.status": "PENDING",
	"moderato.v1.ChatHoldEvent.decided_by": nil, "moderato.v1.ChatHoldEvent.decided_at": nil, "moderato.v1.ChatHoldUpdateEvent.message_id": exampleHeld, "moderato.v1.ChatHoldUpdateEvent.status": "APPROVED", "moderato.v1.ChatRulesEvent.cause": "moderator",
	"moderato.v1.ChatRuleVersion.cause": "moderator", "moderato.v1.ShieldBeginEvent.cause": "moderator", "moderato.v1.ShieldEndEvent.cause": "expired",
	"moderato.v1.GetShieldResponse.active": false, "moderato.v1.GetShieldResponse.cause": nil, "moderato.v1.GetShieldResponse.started_at": nil, "moderato.v1.GetShieldResponse.ends_at": nil, "moderato.v1.GetShieldResponse.reason": nil,
	"moderato.v1.UpdateShieldResponse.cause": "moderator", "moderato.v1.UpdateShieldResponse.reason": nil, "moderato.v1.ShieldPresetEvent.changed": "rules", "moderato.v1.ShieldAutoStart.follows_per_minute": 100,
	"moderato.v1.MuteEvent.rule_id": nil, "moderato.v1.RestoreChatRulesRequest.version": 1,
	"moderato.v1.Emote.id": exampleEmoteID, "moderato.v1.Emote.name": exampleEmoteName, "moderato.v1.Emote.image_url": exampleEmoteImage,
}

// example returns an example of a message with all its fields or, in a request, with those
// that it must have.
func (d *document) example(m protoreflect.MessageDescriptor, use usage) object {
	o := object{}
	for f := range jsonFields(m) {
		if use == inResponse || d.isRequired(f) || isChosen(f) {
			o = append(o, member{f.JSONName(), d.exampleOf(f, use)})
		}
	}
	return o
}

// isChosen reports whether an example of a request has a field that is not required. If a
// user can be named by id or by username, examples have the username. A sweep needs a
// condition. A revert is only tried, because it undoes the work of a moderator. A webhook for
// all types would be noisy.
func isChosen(f protoreflect.FieldDescriptor) bool {
	switch f.FullName() {
	case "moderato.v1.GetProfileRequest.username": // a user token needs none
		return false
	case "moderato.v1.RevertModeratorRequest.dry_run", "moderato.v1.CreateWebhookRequest.type", "moderato.v1.ListUsersRequest.username",
		"moderato.v1.RevertModeratorRequest.moderator_id", "moderato.v1.RevertModeratorRequest.since", "moderato.v1.UpdateChatRulesRequest.put",
		"moderato.v1.PreviewChatRulesRequest.texts", "moderato.v1.PreviewChatRulesRequest.put", "moderato.v1.ChatRule.terms",
		"moderato.v1.UpdateShieldPresetRequest.settings", "moderato.v1.ShieldSettings.slow_seconds",
		"moderato.v1.UpdateChatSettingsRequest.slow_seconds", "moderato.v1.UpdateChatSettingsRequest.duration_seconds":
		return true
	}
	return f.Name() == "phrase" || strings.HasSuffix(string(f.Name()), "username") && !f.IsList()
}

func (d *document) exampleOf(f protoreflect.FieldDescriptor, use usage) any {
	value, isKnown := exampleValuesOf[f.FullName()]
	switch {
	case isKnown:
	case f.JSONName() == "version" && f.Kind() == protoreflect.Int64Kind: // a text is the version of a type of event
		value, isKnown = 4, true
	default:
		value, isKnown = exampleValues[f.JSONName()]
	}
	switch {
	case isKnown && value == nil && f.IsList():
		return []any{}
	case isKnown && (value == nil || f.Kind() != protoreflect.MessageKind):
	case f.Kind() == protoreflect.MessageKind && f.Message().FullName() == "google.protobuf.ListValue":
		return []any{value}
	case f.Kind() == protoreflect.MessageKind && f.Message().FullName() == "google.protobuf.Timestamp":
		value = exampleTime
	case f.Kind() == protoreflect.MessageKind:
		value = d.example(f.Message(), use)
	case f.Kind() == protoreflect.BoolKind:
		value = false
	case f.Kind() == protoreflect.StringKind, f.Options().(*descriptorpb.FieldOptions).GetJstype() == descriptorpb.FieldOptions_JS_STRING:
		value = ""
	default:
		value = 1
	}
	if f.IsList() {
		return []any{value}
	}
	return value
}

// ordered returns an object with its members in the order of a message's fields. The
// moderation log sorts them by name.
func ordered(o object, m protoreflect.MessageDescriptor) object {
	sorted := object{}
	for f, isOptional := range jsonFields(m) {
		at := slices.IndexFunc(o, func(m member) bool { return m.name == f.JSONName() })
		if isOptional && at < 0 {
			continue
		}
		value := get(o, f.JSONName())
		if inner, ok := value.(object); ok {
			value = ordered(inner, f.Message())
		}
		sorted = append(sorted, member{f.JSONName(), value})
	}
	return sorted
}
