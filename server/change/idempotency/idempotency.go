// Package idempotency gives the first response again when a change is repeated with the
// same idempotency key. It does so for a refusal too, if that changed something. A call
// with a key stores its response in the transaction of its change, so that the response is
// there if and only if the change is. A database reader learns neither the key nor the
// response: see secrets.
package idempotency

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/moderato-live/moderato/ent"
	"github.com/moderato-live/moderato/ent/idempotencykey"
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/internal/digest"
	"github.com/moderato-live/moderato/internal/instant"
	"github.com/moderato-live/moderato/server/rpc/apierr"
	"github.com/moderato-live/moderato/server/rpc/authn"
	"github.com/moderato-live/moderato/server/store"
)

const (
	// MetadataKey is the name of the metadata, and over REST of the header, with the key.
	MetadataKey = "idempotency-key"
	// ReplayedKey is the name of the metadata, and over REST of the header, that marks a
	// response which an earlier call has stored.
	ReplayedKey = "idempotent-replayed"
	// Lifetime is how long a response is stored.
	Lifetime = 24 * time.Hour

	maxKeyLength = 255
	// maxResponse is the maximum size of a response in bytes. No response is longer.
	maxResponse = 1 << 20
	// retryAfter is when to repeat a request whose key is in use.
	retryAfter = time.Second
)

// Keys handles the calls of a server that have an idempotency key.
type Keys struct {
	store *store.Store
	// inProgress holds the ids of the calls in progress. The database refuses a second
	// call as well, but only once its transaction begins.
	inProgress sync.Map
	budgets    *budgets
}

// New returns Keys for a database.
func New(s *store.Store) *Keys { return &Keys{store: s, budgets: newBudgets(dailyBudget)} }

// Once runs a call of a method that has an idempotency key, unless a call with the key has
// succeeded before. Then it returns the response of that call and reports isReplay. sent
// holds the keys that the caller sent; more or less than one is an error. run must pass
// its context to the transaction of the change.
func (k *Keys) Once(ctx context.Context, method string, sent []string, request proto.Message, run func(context.Context) (any, error)) (response any, isReplay bool, err error) {
	key, err := parse(sent)
	if err != nil {
		return nil, false, err
	}
	c, err := k.newCall(key, method, authn.FromContext(ctx), request)
	if err != nil {
		return nil, false, err
	}
	if _, isInProgress := k.inProgress.LoadOrStore(c.id, nil); isInProgress {
		return nil, false, errInUse()
	}
	defer k.inProgress.Delete(c.id)
	// The look-up comes before run, because run may refuse a repeat for the very effect
	// of the first call, before any transaction.
	isKnown, err := c.lookUp(ctx)
	if err != nil {
		return nil, false, err
	}
	if !isKnown {
		response, err = run(context.WithValue(ctx, store.HookKey{}, c))
	}
	// A row that a transaction has seen counts only once the transaction has ended as it
	// should: the row may be of a change in the same transaction.
	if isKnown || errors.Is(err, errReplayed) {
		response, err = c.answer()
		return response, true, err
	}
	if c.hasAnswer() && (err == nil || c.replayedRefusal != nil) {
		// After a COMMIT with an unknown outcome, the response was found in the database. It is
		// that of a concurrent call with the key, if this one's COMMIT had failed.
		response, err = c.answer()
	}
	return response, false, err
}

// hasAnswer reports whether an earlier call stored a response or a refusal.
func (c *call) hasAnswer() bool { return c.replay != nil || c.replayedRefusal != nil }

// answer returns what an earlier call stored.
func (c *call) answer() (any, error) {
	if c.replayedRefusal != nil {
		return nil, c.replayedRefusal
	}
	return c.replay, nil
}

// Response declares how a method makes its response, and returns respond. If the call has
// an idempotency key, respond also runs at the end of the change's transaction: whatever it
// depends on must be complete then. A method whose response has no fields declares nothing.
func Response[M proto.Message](ctx context.Context, respond func() M) func() M {
	if c, ok := ctx.Value(store.HookKey{}).(*call); ok {
		c.respond = func() proto.Message { return respond() }
	}
	return respond
}

// Result is Response for a response that the transaction assigns to a variable.
func Result[M proto.Message](ctx context.Context, result *M) {
	Response(ctx, func() M { return *result })
}

// HasKey reports whether the call has an idempotency key, so that its transactions store a
// response.
func HasKey(ctx context.Context) bool { return store.HookOf(ctx) != nil }

// WithoutKey returns a context whose transactions store no response. It is for a change of
// another caller, and for a dry run, which changes nothing.
func WithoutKey(ctx context.Context) context.Context {
	return context.WithValue(ctx, store.HookKey{}, nil)
}

// Recording returns a context for the first transaction of a method that works in several:
// it records what the others do, and any server can continue from there. The transaction
// stores the key without a response. Until a later transaction of the method stores the
// response, a repeat runs the method again, and HasBegun reports true.
func Recording(ctx context.Context) context.Context {
	if c, ok := ctx.Value(store.HookKey{}).(*call); ok {
		return context.WithValue(ctx, store.HookKey{}, recording{c})
	}
	return ctx
}

// HasBegun reports, in the transaction of a Recording context, whether an earlier attempt or
// an earlier call with the same key has committed it before.
func HasBegun(ctx context.Context) bool {
	r, ok := ctx.Value(store.HookKey{}).(recording)
	return ok && r.hasBegun
}

// recording is the store.Hook of a Recording context.
type recording struct{ *call }

// begun is stored instead of a response by a Recording transaction. It is no sealed response.
var begun = []byte{0}

// End implements store.Hook.
func (r recording) End(ctx context.Context, tx *ent.Tx) error {
	return tx.IdempotencyKey.Update().Where(idempotencykey.ID(r.id)).SetResponse(begun).Exec(ctx)
}

// call is a call with an idempotency key. It is the store.Hook of its transaction.
type call struct {
	secrets

	keys    *Keys
	caller  *authn.Caller
	method  *method
	request digest.SHA256
	// now is the time of the call, by the database's clock.
	now     instant.Instant
	respond func() proto.Message
	// hasBegun is true if the row has begun instead of a response: see Recording.
	hasBegun bool
	// hasEnded is true if a transaction of the call got as far as its commit.
	hasEnded bool
	// hasPaid is true if the response was taken from the budget of its owner.
	hasPaid bool
	// replay and replayedRefusal are the response or the refusal that an earlier call stored; nil
	// if there is none.
	replay          proto.Message
	replayedRefusal *apierr.Error
	// refusal is the error to store; nil to store a response.
	refusal *apierr.Error
}

func (k *Keys) newCall(key, name string, caller *authn.Caller, request proto.Message) (*call, error) {
	c := &call{keys: k, caller: caller}
	var err error
	if c.method, err = methodOf(name); err != nil {
		return nil, err
	}
	if c.secrets, err = deriveSecrets(key, caller.ClientID, caller.UserID, name); err != nil {
		return nil, err
	}
	arguments, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	c.request = c.digestOf(arguments)
	return c, nil
}

// stored is a row as it is stored. createdAt is nil if there is no row.
type stored struct {
	request, response []byte
	createdAt         *instant.Instant
}

// lookUp reads the time, and reports whether an earlier call stored its response. Then it
// sets what answer returns.
func (c *call) lookUp(ctx context.Context) (isKnown bool, err error) {
	s := c.keys.store
	var now int64
	var row stored
	err = store.QueryRow(ctx, s.Read, "SELECT "+s.Clock.SQL()+", k.request, k.response, k.created_at FROM (SELECT 1 AS one) o LEFT JOIN idempotency_keys k ON k.id = ?",
		[]any{c.id}, &now, &row.request, &row.response, &row.createdAt)
	if err != nil {
		return false, s.Classify(err)
	}
	c.now = s.Clock.At(now)
	return c.find(row)
}

// find reports whether a row has the response of the call, and sets what answer returns, and
// c.hasBegun.
func (c *call) find(row stored) (isKnown bool, err error) {
	c.hasBegun = false
	if row.createdAt == nil || c.now >= row.createdAt.Add(Lifetime) {
		return false, nil
	}
	if !hmac.Equal(row.request, c.request[:]) {
		return false, apierr.New(moderatov1.Reason_REASON_IDEMPOTENCY_KEY_REUSED)
	}
	// Servers of an earlier version store nothing instead of begun.
	if c.hasBegun = len(row.response) <= len(begun); c.hasBegun {
		return false, nil
	}
	if refusal, isRefusal := c.openRefusal(row.response); isRefusal {
		c.replayedRefusal = refusal.answer()
		return true, nil
	}
	response, err := c.open(row.response, c.request)
	if err != nil {
		return false, err
	}
	c.replay = c.method.output.New().Interface()
	return true, proto.Unmarshal(response, c.replay)
}

// errReplayed ends the transaction of a call whose response is stored already.
var errReplayed = errors.New("an earlier call with the idempotency key succeeded")

// errSecond is a mistake in the method: of its first transaction the response is stored, so
// a repeat would not run the second one.
var errSecond = errors.New("the call stored its response in an earlier transaction")

// errInUse returns the error for a key with which another call is in progress.
func errInUse() error {
	return &apierr.Error{Reason: moderatov1.Reason_REASON_IDEMPOTENCY_KEY_IN_USE, RetryAfter: retryAfter}
}

// Begin implements store.Hook. It inserts the row of the call before anything else, so that
// a call with the same key on another server does not begin.
func (c *call) Begin(ctx context.Context, s *store.Store, tx *ent.Tx, attempt store.Attempt) error {
	c.replay, c.replayedRefusal, c.refusal = nil, nil, nil
	err := c.claim(ctx, s, tx, attempt)
	if s.IsDuplicate(err) { // the other call has committed since claim looked
		err = c.claim(ctx, s, tx, attempt)
	}
	if s.IsLocked(err) && !mayHoldLock(attempt) {
		return errInUse()
	}
	return err
}

// mayHoldLock reports whether the row may be locked by an earlier attempt of the call itself:
// its COMMIT may still be in progress, and the database may not have noticed yet that its
// connection was lost. A retry has its transaction for itself, so no other change waits with it.
func mayHoldLock(attempt store.Attempt) bool { return attempt.Unknown || !attempt.IsFirst }

func (c *call) claim(ctx context.Context, s *store.Store, tx *ent.Tx, attempt store.Attempt) error {
	lock := s.ForUpdateNoWait()
	if mayHoldLock(attempt) {
		lock = s.ForUpdate()
	}
	var row stored
	err := store.QueryRow(ctx, tx, "SELECT request, response, created_at FROM idempotency_keys WHERE id = ?"+lock,
		[]any{c.id}, &row.request, &row.response, &row.createdAt)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return err
	}
	switch isKnown, err := c.find(row); {
	case err != nil:
		return err
	case isKnown && attempt.Unknown: // it is the response of this call
		return store.ErrCommitted
	case isKnown && c.hasEnded && attempt.IsFirst:
		return errSecond
	case isKnown:
		return errReplayed
	case c.hasBegun:
		return nil
	}
	if row.createdAt != nil {
		if _, err := tx.IdempotencyKey.Delete().Where(idempotencykey.ID(c.id)).Exec(ctx); err != nil {
			return err
		}
	}
	create := tx.IdempotencyKey.Create().SetID(c.id).SetRequest(c.request).SetResponse([]byte{}).SetCreatedAt(c.now)
	if c.caller.ActsAsUser() {
		create.SetUserID(c.caller.UserID)
	}
	return create.Exec(ctx)
}

// End implements store.Hook. It stores the response, or the refusal.
func (c *call) End(ctx context.Context, tx *ent.Tx) error {
	c.hasEnded = true
	if c.refusal != nil {
		sealed, err := c.sealRefusal()
		if err != nil {
			return err
		}
		return tx.IdempotencyKey.Update().Where(idempotencykey.ID(c.id)).SetResponse(sealed).Exec(ctx)
	}
	var response []byte
	switch {
	case c.respond != nil:
		var err error
		if response, err = proto.Marshal(c.respond()); err != nil {
			return fmt.Errorf("idempotency: %w", err)
		}
	case c.method.output.Descriptor().Fields().Len() > 0:
		return fmt.Errorf("%s declares no response: call idempotency.Response", c.method.name)
	}
	if len(response) > maxResponse {
		return fmt.Errorf("the response of %s has %d bytes, more than %d", c.method.name, len(response), maxResponse)
	}
	if err := c.pay(len(response)); err != nil {
		return err
	}
	return tx.IdempotencyKey.Update().Where(idempotencykey.ID(c.id)).SetResponse(c.seal(response, c.request)).Exec(ctx)
}

// pay takes the bytes of the response from the budget of the caller, once even if the
// transaction is repeated. Service tokens have no limit.
func (c *call) pay(bytes int) error {
	if c.hasPaid || c.caller.Kind == authn.Service {
		return nil
	}
	err := c.keys.budgets.take(owner{c.caller.ClientID, c.caller.UserID}, bytes, c.now.Time())
	c.hasPaid = err == nil
	return err
}
