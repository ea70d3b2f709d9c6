package authn

// What tests of the package see beside its interface.
var (
	NewTokenText = newToken
	CheckToken   = checkToken
)
