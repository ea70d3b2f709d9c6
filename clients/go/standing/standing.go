package standing

import (
	"strconv"
	"strings"
	"time"

	platformv1 "github.com/moderato-live/moderato/gen/moderato/platform/v1"
)

// Verdict says whether a user may post in a channel.
type Verdict uint8

const (
	// Unknown says that nothing is known, and the policy is FailClosed: refuse the message.
	Unknown Verdict = iota
	// Allowed says that the user may post. If nothing is known, it says that the policy is
	// FailOpen.
	Allowed
	// PostFirst says that the user may post, but that the server examines what messages
	// say, because of a sweep. Show a message only when PostMessage has accepted it.
	PostFirst
	// Banned says that the user is banned from the channel. The user may be muted as well.
	Banned
	// Muted says that the user is muted in the channel.
	Muted
	// ChannelNotFound says that the channel does not exist.
	ChannelNotFound
	// UserNotFound says that the user does not exist. Only the server says so: the memory
	// of a Client has no list of users.
	UserNotFound
)

var verdicts = [...]string{"Unknown", "Allowed", "PostFirst", "Banned", "Muted", "ChannelNotFound", "UserNotFound"}

// String returns the name of the verdict.
func (v Verdict) String() string { return nameOf(verdicts[:], int(v)) }

// Source says where a Standing comes from.
type Source uint8

const (
	// FromPolicy says that nothing is known, and the failure policy decided.
	FromPolicy Source = iota
	// FromMemory says that the standing comes from the memory of the Client.
	FromMemory
	// FromServer says that the Client asked the server.
	FromServer
)

var sources = [...]string{"policy", "memory", "server"}

// String returns "policy", "memory" or "server".
func (s Source) String() string { return nameOf(sources[:], int(s)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// Roles is a set of roles of a user in a channel.
type Roles uint8

// The roles.
const (
	Owner Roles = 1 << iota
	Moderator
	VIP
	OG
)

var roleNames = [...]string{"owner", "moderator", "vip", "og"}

// Has reports whether the set has all roles of another set.
func (r Roles) Has(others Roles) bool { return r&others == others }

// String returns the names of the roles, such as "owner+vip".
func (r Roles) String() string {
	var names []string
	for i, name := range roleNames {
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// roleOf returns a role of the contract as a set; empty if it is unknown.
func roleOf(r platformv1.Role) Roles {
	switch r {
	case platformv1.Role_ROLE_OWNER:
		return Owner
	case platformv1.Role_ROLE_MODERATOR:
		return Moderator
	case platformv1.Role_ROLE_VIP:
		return VIP
	case platformv1.Role_ROLE_OG:
		return OG
	case platformv1.Role_ROLE_UNSPECIFIED:
	}
	return 0
}

// Standing is the standing of a user in a channel.
type Standing struct {
	// Verdict says whether the user may post.
	Verdict Verdict
	// Source says where the standing comes from. From the policy, only the verdict is set.
	Source Source
	// Roles are the user's roles. A banned moderator is still a moderator, but has no
	// moderation rights while banned.
	Roles Roles

	banned, muted int64 // the ends, in milliseconds; 0 for none
}

// CanPost reports whether PostMessage accepts a message of the user, unless it refuses what
// the message says: the verdict is Allowed or PostFirst.
func (s Standing) CanPost() bool { return s.Verdict == Allowed || s.Verdict == PostFirst }

// BanExpiresAt returns when the ban ends, and reports whether the user is banned with an
// end that is known. The memory knows it; the server, when asked, does not say.
func (s Standing) BanExpiresAt() (time.Time, bool) {
	return time.UnixMilli(s.banned), s.banned > 0 && s.banned < forever
}

// MuteExpiresAt returns when the mute ends, and reports whether the user is muted.
func (s Standing) MuteExpiresAt() (time.Time, bool) { return time.UnixMilli(s.muted), s.muted > 0 }
