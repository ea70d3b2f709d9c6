package fair

import "sync"

// Room bounds what is in progress, in all and of one owner. Nobody waits for it. Its methods
// may be called concurrently.
type Room struct {
	size, share int

	mu      sync.Mutex
	used    int
	byOwner map[Owner]int
}

// NewRoom returns a Room for size pieces of work, of which one owner may have share.
func NewRoom(size, share int) *Room {
	return &Room{size: size, share: share, byOwner: map[Owner]int{}}
}

// Enter counts a piece of work of an owner until leave is called. It returns false if there
// is no room for it. Further calls of leave have no effect.
func (r *Room) Enter(owner Owner) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used >= r.size || r.byOwner[owner] >= r.share {
		return nil, false
	}
	r.used++
	r.byOwner[owner]++
	return sync.OnceFunc(func() { r.leave(owner) }), true
}

func (r *Room) leave(owner Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used--
	if r.byOwner[owner]--; r.byOwner[owner] == 0 {
		delete(r.byOwner, owner)
	}
}
