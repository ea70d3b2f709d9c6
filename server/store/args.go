package store

// Args returns values as the arguments of a statement.
func Args[T any](values []T) []any {
	args := make([]any, len(values))
	for i, value := range values {
		args[i] = value
	}
	return args
}

// PaddedArgs returns the keys of a set as the arguments of a list in a statement. It repeats
// one of them until their number is 1, 2, 4 or a multiple of 8, so that there are few different
// statements to prepare.
func PaddedArgs[T comparable](set map[T]bool) []any {
	args := make([]any, 0, len(set)+7)
	for value := range set {
		args = append(args, value)
	}
	for n := len(args); n%8 != 0 && n != 1 && n != 2 && n != 4; n++ {
		args = append(args, args[0])
	}
	return args
}
