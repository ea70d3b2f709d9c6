package standing

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
)

// Policy says what Check does if nothing is known: before the first snapshot, for a
// channel that is not among Options.Channels, and when the memory is older than
// Options.MaxStaleness.
type Policy uint8

const (
	// FailClosed refuses messages: the verdict is Unknown.
	FailClosed Policy = iota
	// FailOpen accepts messages: the verdict is Allowed.
	FailOpen
	// AskServer asks the server with GetStanding. The verdict of a user who may post is
	// PostFirst, because GetStanding does not say whether messages are examined. If the
	// server does not answer in time, Options.IfUnanswered decides.
	AskServer
)

var policies = [...]string{"FailClosed", "FailOpen", "AskServer"}

// String returns the name of the policy.
func (p Policy) String() string { return nameOf(policies[:], int(p)) }

const (
	// DefaultMaxStaleness is the default of Options.MaxStaleness.
	DefaultMaxStaleness = 10 * time.Second
	// DefaultAskTimeout is the default of Options.AskTimeout.
	DefaultAskTimeout = time.Second
	// DefaultMaxAsks is the default of Options.MaxAsks.
	DefaultMaxAsks = 64
	// MaxChannels is the maximum length of Options.Channels.
	MaxChannels = 1000
)

// Options configures a Client.
type Options struct {
	// Name is the name of this chat server, 1 to 64 of A-Z a-z 0-9 _ . -. Required. Each
	// chat server needs its own, and keeps it when it starts again: the server counts by
	// name which chat servers have applied a change.
	Name string
	// Channels are the channels to watch, at most MaxChannels.
	Channels []uuid.UUID
	// AllChannels watches every channel, instead of Channels. Check then does not know
	// which channels exist.
	AllChannels bool

	// MaxStaleness is how old the memory may be; 0 for DefaultMaxStaleness. The server
	// confirms the memory every 2 s, so a bound below 3 s is of little use.
	MaxStaleness time.Duration
	// OnFailure says what Check does if nothing is known.
	OnFailure Policy
	// AskTimeout bounds a call of the server with AskServer; 0 for DefaultAskTimeout.
	AskTimeout time.Duration
	// MaxAsks is the maximum number of concurrent calls of the server with AskServer; 0
	// for DefaultMaxAsks. Others wait until their time is up.
	MaxAsks int
	// IfUnanswered is FailClosed or FailOpen: what AskServer does without an answer.
	IfUnanswered Policy

	// OnError is called with the error of a stream that ended. The Client then opens it
	// again. OnError must return soon, and may be nil.
	OnError func(error)
}

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// withDefaults returns valid options, or an error.
func (o Options) withDefaults() (Options, error) {
	switch {
	case !namePattern.MatchString(o.Name):
		return o, fmt.Errorf("standing: Options.Name %q must be 1 to 64 of A-Z a-z 0-9 _ . -", o.Name)
	case o.AllChannels == (len(o.Channels) > 0):
		return o, errors.New("standing: set either Options.Channels or Options.AllChannels")
	case len(o.Channels) > MaxChannels:
		return o, fmt.Errorf("standing: Options.Channels has %d channels, more than %d; use AllChannels", len(o.Channels), MaxChannels)
	case o.MaxStaleness < 0 || o.AskTimeout < 0 || o.MaxAsks < 0:
		return o, errors.New("standing: Options.MaxStaleness, AskTimeout and MaxAsks must not be negative")
	case o.OnFailure > AskServer || o.IfUnanswered > FailOpen:
		return o, errors.New("standing: Options.OnFailure or IfUnanswered is not a policy that it can be")
	}
	o.MaxStaleness = orDefault(o.MaxStaleness, DefaultMaxStaleness)
	o.AskTimeout = orDefault(o.AskTimeout, DefaultAskTimeout)
	o.MaxAsks = orDefault(o.MaxAsks, DefaultMaxAsks)
	return o, nil
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
