package testdb

import "syscall"

// inOwnGroup makes a process the leader of a session and process group. Ctrl-C does not
// reach it, because the command under test has to end before its databases. The process
// is killed when its parent dies, however that happens.
func inOwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

const (
	tmpfsMagic = 0x01021994
	enoughRoom = 2 << 30
)

// Memory returns a directory whose files are in memory, if there is one with enough
// room for the databases of the tests.
func Memory() (dir string, ok bool) {
	const shm = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err != nil || fs.Type != tmpfsMagic || fs.Bavail*uint64(fs.Bsize) < enoughRoom {
		return "", false
	}
	const writable = 2
	return shm, syscall.Access(shm, writable) == nil
}
