package httploop

// The bounds for tests.
const (
	DisconnectDelay = disconnectDelay
	MaxBuffered     = maxBuffered
)
