package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent/chatrule"
	"github.com/moderato-live/moderato/ent/shield"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/change/idempotency"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// chatState is what changes of rules and of the shield change.
type chatState struct {
	version, rules, versions, shields, events int
}

// rulesDeath is a change of rules or of the shield, during which the process is killed.
type rulesDeath struct {
	name string
	// has is a step of its transaction.
	has string
	// before is the change that precedes it, nil for none.
	before, do func(context.Context, moderatov1.ChatRulesServiceClient, ...grpc.CallOption) (proto.Message, error)
	// after returns the state after the change.
	after func(chatState) chatState
}

var rulesDeaths = []rulesDeath{
	{
		name: "changing rules", has: "INSERT INTO `chat_rule_versions`", do: putRule,
		after: func(s chatState) chatState {
			return chatState{s.version + 1, s.rules + 1, s.versions + 1, s.shields, s.events + 1}
		},
	},
	{
		name: "restoring rules", has: "INSERT INTO `chat_rule_versions`", before: putRule, do: restoreRules,
		after: func(s chatState) chatState {
			return chatState{s.version + 1, 1, s.versions + 1, s.shields, s.events + 1}
		},
	},
	{
		name: "raising the shield", has: "INSERT INTO `shields`", before: lowerShield, do: raiseShield,
		after: func(s chatState) chatState { return chatState{s.version, s.rules, s.versions, 1, s.events + 2} },
	},
	{
		name: "lowering the shield", has: "INSERT INTO `shields`", before: raiseShield, do: lowerShield,
		after: func(s chatState) chatState { return chatState{s.version, s.rules, s.versions, 0, s.events + 2} },
	},
}

func putRule(ctx context.Context, c moderatov1.ChatRulesServiceClient, o ...grpc.CallOption) (proto.Message, error) {
	return c.UpdateChatRules(ctx, &moderatov1.UpdateChatRulesRequest{
		ChannelId: servertest.Owner.String(),
		Put:       []*moderatov1.ChatRule{{Name: "a", Kind: "terms", Action: "block", Terms: []string{"spam"}}},
	}, o...)
}

func restoreRules(ctx context.Context, c moderatov1.ChatRulesServiceClient, o ...grpc.CallOption) (proto.Message, error) {
	return c.RestoreChatRules(ctx, &moderatov1.RestoreChatRulesRequest{ChannelId: servertest.Owner.String(), Version: new(int64(1))}, o...)
}

func raiseShield(ctx context.Context, c moderatov1.ChatRulesServiceClient, o ...grpc.CallOption) (proto.Message, error) {
	return c.UpdateShield(ctx, &moderatov1.UpdateShieldRequest{ChannelId: servertest.Owner.String(), Active: new(true)}, o...)
}

func lowerShield(ctx context.Context, c moderatov1.ChatRulesServiceClient, o ...grpc.CallOption) (proto.Message, error) {
	return c.UpdateShield(ctx, &moderatov1.UpdateShieldRequest{ChannelId: servertest.Owner.String(), Active: new(false)}, o...)
}

// TestRulesKilledAtEveryStep kills the process before each step of changes of rules and of the shield
// with an idempotency key, and after their COMMIT. All of a change is stored or nothing, and another
// server that gets the request again makes it once.
func TestRulesKilledAtEveryStep(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		s := &scene{t: t, url: url, db: prepare(t, url)}
		s.owner = callerContext(t, s.db)
		live := moderatov1.NewChatRulesServiceClient(s.start().Conn)
		storetest.Must(putRule(s.owner, live))
		storetest.Must(live.UpdateShieldPreset(s.owner, &moderatov1.UpdateShieldPresetRequest{
			ChannelId: servertest.Owner.String(), Settings: &moderatov1.ShieldSettings{SubscribersOnly: new(true)},
		}))
		for _, d := range rulesDeaths {
			if !storetest.Takes(t, url, d.name) {
				continue
			}
			found := false
			for step, reached := 0, "BEGIN"; reached != ""; step++ {
				if d.before != nil {
					storetest.Must(d.before(s.owner, live))
				}
				before := s.chat()
				ctx := metadata.AppendToOutgoingContext(s.owner, idempotency.MetadataKey, fmt.Sprintf("%s-%d", strings.ReplaceAll(d.name, " ", "-"), step))
				reached = s.changeAndDie(ctx, storetest.Halt{Of: ofChange, Has: d.has, Step: step}, d)
				found = found || strings.HasPrefix(reached, d.has)
				s.wantChange(ctx, fmt.Sprintf("%s, killed before step %d, %.60s", d.name, step, reached), d, live, before,
					reached == "" || reached == storetest.CommittedStep)
			}
			if !found {
				t.Errorf("%s: no step was %s", d.name, d.has)
			}
		}
		s.checkRules("at the end")
	})
}

// changeAndDie has a server make a change, and kills it when it stops. It returns the step before which
// the server stopped; empty if there are fewer steps.
func (s *scene) changeAndDie(ctx context.Context, halt storetest.Halt, d rulesDeath) string {
	s.t.Helper()
	p := serveUpTo(s.t, s.url, storetest.Halt{})
	defer p.Kill()
	conn := p.Dial(s.t)
	p.stopAt(s.t, halt)
	go func() { _, _ = d.do(ctx, moderatov1.NewChatRulesServiceClient(conn)) }()
	return p.stepReached(s.t)
}

// wantChange checks that a change was made as a whole, or not at all, and makes it again twice.
func (s *scene) wantChange(ctx context.Context, what string, d rulesDeath, live moderatov1.ChatRulesServiceClient, before chatState, wasMade bool) {
	s.t.Helper()
	want := before
	if wasMade {
		want = d.after(before)
	}
	if got := s.chat(); got != want {
		s.t.Errorf("%s: the state is %+v, want %+v", what, got, want)
	}
	var responses []proto.Message
	for _, wantReplay := range []bool{wasMade, true} {
		response, isReplay := s.repeat(ctx, d, live)
		if isReplay != wantReplay {
			s.t.Errorf("%s: replayed is %t, want %t", what, isReplay, wantReplay)
		}
		responses = append(responses, response)
	}
	if got := s.chat(); got != d.after(before) || !proto.Equal(responses[0], responses[1]) {
		s.t.Errorf("%s: in the end, the state is %+v, want %+v; the responses are %v", what, got, d.after(before), responses)
	}
}

// repeat makes a change that must succeed once the database has noticed that the first server is dead.
// It reports whether the response is a replay.
func (s *scene) repeat(ctx context.Context, d rulesDeath, live moderatov1.ChatRulesServiceClient) (_ proto.Message, isReplay bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var header metadata.MD
		response, err := d.do(ctx, live, grpc.Header(&header))
		if err == nil {
			return response, len(header.Get(idempotency.ReplayedKey)) > 0
		}
		if servertest.OutcomeOf(err).Reason != "IDEMPOTENCY_KEY_IN_USE" || time.Now().After(deadline) {
			s.t.Fatal(err)
		}
	}
}

// chat returns the state of the chat.
func (s *scene) chat() chatState {
	s.t.Helper()
	ctx, read := s.t.Context(), s.db.Read
	return chatState{
		version:  int(storetest.Must(read.ChatSettings.Get(ctx, servertest.Owner)).RulesVersion),
		rules:    storetest.Must(read.ChatRule.Query().Where(chatrule.UntilVersionIsNil()).Count(ctx)),
		versions: storetest.Must(read.ChatRuleVersion.Query().Count(ctx)),
		shields:  storetest.Must(read.Shield.Query().Where(shield.EndsAtNotNil()).Count(ctx)),
		events:   storetest.Must(read.Event.Query().Count(ctx)),
	}
}
