package archive

// SetMaxEvents bounds the files of an archive.
func (a *Archiver) SetMaxEvents(n int64) { a.maxEvents = n }
