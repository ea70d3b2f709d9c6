// Command moderato runs the Moderato server and maintains its data; see moderato
// --help.
package main

import (
	"context"
	"os"

	"github.com/moderato-live/moderato/server/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
