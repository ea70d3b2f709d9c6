package authn

// Identifiers exported for tests.
var (
	NewTokenText = newToken
	CheckToken   = checkToken
)
