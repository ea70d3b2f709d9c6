package authn

// Identifiers exported for tests.
var (
	NewTokenText = NewText
	CheckToken   = checkToken
)
