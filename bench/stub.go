package main

import "context"

func (b *bench) writes(context.Context, string) error    { return nil }
func (b *bench) growth(context.Context, string) error    { return nil }
func (b *bench) raid(context.Context, string) error      { return nil }
func (b *bench) footprint(context.Context, string) error { return nil }
func (b *bench) writePage(context.Context, string) error { return nil }
