package demo

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/moderato-live/moderato/internal/uid"
)

// The users, in order: the owners, the rest of the cast, then the crowd. In the crowd
// some users hold roles, most only chat, and some get banned.
const (
	userCount = 200

	moderatorIndex = 12
	viewerIndex    = 13
	raiderIndex    = 14
	crowdStart     = 15
	plainStart     = 130 // users from here on hold no role
	rowdyStart     = 172 // banned users are from here on
)

// Person is a user as the demo's commands name it.
type Person struct {
	ID          uid.ID
	Username    string
	DisplayName string
}

// user is a user with the language in which they chat besides English; lang is empty
// if there is none.
type user struct {
	Person
	lang string
}

// known is the rest of the cast; these users come after the owners.
var known = []Person{
	{Username: "tomasz_wrona", DisplayName: "Tomasz Wrona"},
	{Username: "amara.okafor", DisplayName: "Amara Okafor"},
	{Username: "LootGoblin77", DisplayName: "LootGoblin77"},
}

// makePeople returns the users: the owners, the rest of the cast, and the crowd.
func makePeople() []user {
	r := stream(userStream)
	people := make([]user, 0, userCount)
	usernames, displayNames := map[string]bool{}, map[string]bool{}
	add := func(u user) {
		slug := strings.ToLower(u.Username)
		if usernames[slug] || displayNames[u.DisplayName] {
			return
		}
		usernames[slug], displayNames[u.DisplayName] = true, true
		u.ID = randomID(r)
		people = append(people, u)
	}
	for _, c := range channels {
		add(user{Person: c.owner, lang: c.base()})
	}
	for _, p := range known {
		add(user{Person: p})
	}
	for len(people) < userCount {
		if r.IntN(4) == 0 {
			add(gamer(r))
		} else {
			add(human(r))
		}
	}
	return people
}

// human returns a user with a person's name. One in three belongs to a culture whose
// language no channel uses.
func human(r *rand.Rand) user {
	spoken := r.IntN(3) > 0
	c := pick(r, cultures)
	for (c.lang != "") != spoken {
		c = pick(r, cultures)
	}
	first, last := pick(r, c.first), pick(r, c.last)
	username := handle(r, plainLetters.Replace(first), plainLetters.Replace(last))
	return user{Person{Username: username, DisplayName: first + " " + last}, c.lang}
}

// handle returns a username that a person with the name could have chosen.
func handle(r *rand.Rand, first, last string) string {
	number := strconv.Itoa(between(r, 2, 59))
	lowerFirst, lowerLast := strings.ToLower(first), strings.ToLower(last)
	switch r.IntN(8) {
	case 0:
		return lowerFirst + "." + lowerLast
	case 1:
		return lowerFirst + lowerLast
	case 2:
		return lowerFirst + "_" + lowerLast
	case 3:
		return lowerFirst[:1] + lowerLast + number
	case 4:
		return first + last
	case 5:
		return lowerFirst + number
	case 6:
		return lowerLast + "-" + lowerFirst[:1]
	default:
		return "its_" + lowerFirst + "_" + lowerLast[:1]
	}
}

// gamer returns a user with a made-up name.
func gamer(r *rand.Rand) user {
	first, last := pick(r, gamerFirst), pick(r, gamerLast)
	name := first + last
	switch r.IntN(4) {
	case 0:
		name += strconv.Itoa(between(r, 2, 59))
	case 1:
		name = strings.ToLower(first + "_" + last)
	case 2:
		name = "the" + name
	}
	return user{Person{Username: name, DisplayName: name}, pick(r, cultures).lang}
}
