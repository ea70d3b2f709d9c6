// Package content holds the clips, VODs and votes of channels.
package content

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/directory"
	"github.com/moderato-live/moderato/server/uid"
)

// contentColumns lists the columns of a clip's or VOD's category, g, and of the owner of
// its channel, o. contentArgs holds their arguments.
const contentColumns = `c.category_id, g.parent_id, COALESCE(g.name, ?), COALESCE(g.slug, ?), COALESCE(g.image_url, ''),
	o.id, o.username, o.avatar_url`

var contentArgs = []any{directory.UncategorizedName, directory.UncategorizedSlug}

// person holds the scanned columns of the creator or channel owner of a clip or VOD.
type person struct {
	id uid.ID
	moderatov1.ContentUser
}

func (p *person) proto() *moderatov1.ContentUser {
	return &moderatov1.ContentUser{Id: p.id.String(), Username: p.GetUsername(), AvatarUrl: p.GetAvatarUrl()}
}
