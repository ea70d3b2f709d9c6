// Package content holds the clips, VODs, emotes and votes of channels.
package content

import (
	moderatov1 "github.com/moderato-live/moderato/gen/moderato/v1"
	"github.com/moderato-live/moderato/server/domain/directory"
	"github.com/moderato-live/moderato/server/store"
)

// contentColumns lists the columns of a clip's or VOD's category, g, and of the owner of
// its channel, o. contentArgs holds their arguments.
const contentColumns = `c.category_id, g.parent_id, COALESCE(g.name, ?), COALESCE(g.slug, ?), COALESCE(g.image_url, ''),
	o.id, o.username, o.avatar_url`

var contentArgs = []any{directory.UncategorizedName, directory.UncategorizedSlug}

// readUser reads the creator or channel owner of a clip or VOD.
func readUser(r *store.Row) *moderatov1.ContentUser {
	return &moderatov1.ContentUser{Id: r.ID().String(), Username: r.Text(), AvatarUrl: r.Text()}
}

// readCategory reads the category of a clip or VOD.
func readCategory(r *store.Row) *moderatov1.ContentCategory {
	return &moderatov1.ContentCategory{Id: r.Int(), ParentId: r.OptionalInt(), Name: r.Text(), Slug: r.Text(), ImageUrl: r.Text()}
}
