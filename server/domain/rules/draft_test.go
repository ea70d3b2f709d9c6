package rules_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moderato-live/moderato/ent"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/internal/uid"
	"github.com/moderato-live/moderato/server/domain/moderation"
	"github.com/moderato-live/moderato/server/domain/rules"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/rpc/authz"
	"github.com/moderato-live/moderato/server/store"
	"github.com/moderato-live/moderato/test/servertest"
	"github.com/moderato-live/moderato/test/storetest"
)

// TestLimitsHoldForRulesThatChangedMeanwhile changes rules through another server after a change has
// read and compiled them, and before its transaction.
func TestLimitsHoldForRulesThatChangedMeanwhile(t *testing.T) {
	storetest.EachKind(t, func(t *testing.T, url store.URL) {
		gate := &storetest.Gate{}
		config := servertest.Config(url)
		config.DBLayer = gate.Layer()
		r, other := open(t, config), newRoom(t, servertest.Start(t, servertest.Config(url)))
		sixty := `"put":[` + strings.Repeat(term("a")+",", 59) + term("a") + `]`
		put := func(meanwhile func()) (code string) {
			held := gate.Shut("until_version IS NULL")
			var group sync.WaitGroup
			group.Go(func() {
				_, l := r.tryRules(r.moderator, sixty)
				code = l.Data.Code
			})
			<-held
			meanwhile()
			gate.Open()
			group.Wait()
			return code
		}
		var added *ruleList
		if code := put(func() { added = other.rules(sixty) }); code != "RULE_LIMIT_REACHED" {
			t.Errorf("60 rules of two servers: got %q", code)
		}
		var ids []string
		for i := range added.Data.Rules {
			ids = append(ids, fmt.Sprintf("%q", added.id(i)))
		}
		if code := put(func() { other.rules(`"delete":[` + strings.Join(ids, ",") + `]`) }); code != "" {
			t.Errorf("there was room: got %q", code)
		}
	})
}

// watch is a hook that measures how long the transactions of a call take.
type watch struct {
	began time.Time
	took  time.Duration
}

func (w *watch) Begin(context.Context, *store.Store, *ent.Tx, store.Attempt) error {
	w.began = time.Now()
	return nil
}

func (w *watch) End(context.Context, *ent.Tx) error {
	w.took = time.Since(w.began)
	return nil
}

// TestTransactionsCompileNoRules changes and restores rules with many terms, and a preset beside them: the transaction takes a
// fraction of the time of the call, in which they are compiled.
func TestTransactionsCompileNoRules(t *testing.T) {
	each(t, func(r *room, _ instant.Instant) {
		caller := &authn.Caller{Kind: authn.User, ClientID: servertest.Dashboard, UserID: servertest.Owner, Token: digest.Of(r.owner.Token)}
		ctx := authz.NewContext(authn.NewContext(t.Context(), caller), authz.Table[moderatov1.ChatRulesService_UpdateChatRules_FullMethodName])
		service, channel := &rules.Service{Store: r.Store, Turns: moderation.NewSweeps()}, servertest.Owner.String()
		put := func(ctx context.Context, rules ...*moderatov1.ChatRule) {
			if _, err := service.UpdateChatRules(ctx, &moderatov1.UpdateChatRulesRequest{ChannelId: channel, Put: rules}); err != nil {
				t.Fatal(err)
			}
		}
		restore := func(ctx context.Context, version int64) {
			if _, err := service.RestoreChatRules(ctx, &moderatov1.RestoreChatRulesRequest{ChannelId: channel, Version: &version}); err != nil {
				t.Fatal(err)
			}
		}
		preset := func(ctx context.Context, rules ...*moderatov1.ChatRule) {
			if _, err := service.UpdateShieldPreset(ctx, &moderatov1.UpdateShieldPresetRequest{ChannelId: channel, Settings: &moderatov1.ShieldSettings{}, Rules: rules}); err != nil {
				t.Fatal(err)
			}
		}
		many := make([]*moderatov1.ChatRule, 5)
		for i := range many {
			many[i] = &moderatov1.ChatRule{Name: "a", Kind: "terms", Action: "block", Evasions: new(true)}
			for range 1000 {
				many[i].Terms = append(many[i].Terms, uid.New().String()+" phrase")
			}
		}
		put(ctx, many...)
		for _, c := range []struct {
			what   string
			before int64 // the version
			do     func(ctx context.Context)
		}{
			{"a change", 1, func(ctx context.Context) {
				put(ctx, &moderatov1.ChatRule{Name: "b", Kind: "mentions", Action: "block", Max: new(int32(3))})
			}},
			{"a restore", 0, func(ctx context.Context) { restore(ctx, 1) }},
			{"a preset", 1, func(ctx context.Context) {
				preset(ctx, &moderatov1.ChatRule{Name: "b", Kind: "mentions", Action: "block", Max: new(int32(3))})
			}},
		} {
			share := 1.0 // of the transaction in the time of the call: the least, as others use the machine
			for range 3 {
				restore(ctx, c.before)
				w, began := &watch{}, time.Now()
				c.do(context.WithValue(ctx, store.HookKey{}, w))
				share = min(share, w.took.Seconds()/time.Since(began).Seconds())
			}
			if t.Logf("%s: the transaction takes %.0f %%", c.what, share*100); share > 0.2 {
				t.Errorf("%s: the transaction takes %.0f %% of the time", c.what, share*100)
			}
		}
	})
}
