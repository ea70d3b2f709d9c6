package store

// Args returns values as the arguments of a statement.
func Args[T any](values []T) []any {
	args := make([]any, len(values))
	for i, value := range values {
		args[i] = value
	}
	return args
}
