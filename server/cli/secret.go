package cli

import (
	"bufio"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// secret is an argument or a flag that is a secret. Arguments are visible in the process list,
// so "-" reads the secret from standard input.
type secret string

// readSecrets returns the option with which a parser reads secrets.
func readSecrets(in io.Reader) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[secret](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("secret", &text); err != nil {
			return err
		}
		if text == "-" {
			line, err := bufio.NewReader(in).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if text = strings.TrimSpace(line); text == "" {
				return errors.New("standard input has no secret in its first line")
			}
		}
		target.SetString(text)
		return nil
	}))
}
