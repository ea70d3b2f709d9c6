package main

import "context"

func (b *bench) writePage(context.Context, string) error { return nil }
