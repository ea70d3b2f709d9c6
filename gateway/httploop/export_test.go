package httploop

// DisconnectDelay is the bound for tests.
const DisconnectDelay = disconnectDelay
