package fair_test

import (
	"fmt"
	"testing"

	"github.com/moderato-live/moderato/internal/fair"
)

func TestRoomIsBoundedInAllAndByOwner(t *testing.T) {
	const size, share = 5, 2
	room := fair.NewRoom(size, share)
	want := func(client string, want bool) func() {
		t.Helper()
		leave, ok := room.Enter(fair.Owner{Client: client})
		if ok != want {
			t.Fatalf("%s: got room: %t, want %t", client, ok, want)
		}
		return leave
	}
	leave := want("greedy", true)
	want("greedy", true)
	want("greedy", false)
	for n := share; n < size; n++ {
		want(fmt.Sprint("client ", n), true)
	}
	want("another", false)
	leave()
	leave() // has no effect
	want("another", true)
	want("a third", false)
	want("greedy", false)
}
