package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// DefaultMax is the size to which a store may grow.
const DefaultMax = 4 << 30

// ErrInUse is returned by Open when another process has the store.
var ErrInUse = errors.New("another process is using the cache")

// A Store is an open store. It is for one goroutine. Badger may end the process, see
// the package comment; a Client keeps it at a distance.
type Store struct {
	// Damaged counts values that did not fit their checksum, and stores that had to
	// be given up.
	Damaged  int
	db       *badger.DB
	dir      string // of the user
	max      int64
	readOnly bool
	unlock   func()
}

// What the folder of the user holds of ours, and no more than this is ever removed.
const (
	lockName = "bfverify-facts.lock"
	prefix   = "bfverify-facts-"
)

var ours = regexp.MustCompile(`^bfverify-facts-[0-9]+(\.new|\.old)?$`)

func folder(dir string) string { return filepath.Join(dir, fmt.Sprintf("%s%d", prefix, layout)) }

// Open opens the store in dir, which is made if need be; max is how large it may
// grow, 0 for any size. A folder that cannot be written gives a store that can be
// read only. A store that cannot be opened otherwise is emptied. Errors: ErrInUse, or
// why there can be no store in dir.
func Open(dir string, max int64) (*Store, error) {
	s := &Store{dir: dir, max: max}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	unlock, err := lock(filepath.Join(dir, lockName))
	switch {
	case err == nil:
		s.unlock = unlock
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		s.readOnly = true
		if s.db, err = openBadger(folder(dir), true); err != nil {
			return nil, fmt.Errorf("%s can be read only, and holds no cache that is whole", dir)
		}
		return s, nil
	default:
		return nil, err
	}
	for _, old := range []string{".new", ".old"} { // of a gc that was killed
		if err := os.RemoveAll(folder(dir) + old); err != nil {
			s.unlock()
			return nil, err
		}
	}
	s.db, err = openBadger(folder(dir), false)
	if err != nil && !outside(err) {
		s.Damaged++
		if err = os.RemoveAll(folder(dir)); err == nil {
			s.db, err = openBadger(folder(dir), false)
		}
	}
	if err != nil {
		s.unlock()
		return nil, err
	}
	return s, nil
}

// outside reports whether err says something of the machine, not of the store.
func outside(err error) bool {
	return errors.Is(err, ErrInUse) || errors.Is(err, fs.ErrPermission) || isReadOnly(err) || isFull(err)
}

// openBadger opens the database in a folder of ours.
func openBadger(dir string, readOnly bool) (db *badger.DB, err error) {
	defer func() {
		if v := recover(); v != nil {
			db, err = nil, fmt.Errorf("badger: %v", v)
		}
	}()
	opt := badger.DefaultOptions(dir).
		WithLogger(nil).
		WithReadOnly(readOnly).
		WithMetricsEnabled(false).
		WithDetectConflicts(false).
		WithNumGoroutines(1).
		WithCompression(options.None). // values are compressed
		WithBlockCacheSize(0).
		WithMemTableSize(16 << 20).
		WithNumMemtables(2).
		WithBaseTableSize(8 << 20).
		WithValueThreshold(64 << 10).
		WithValueLogFileSize(2 * maxValue).
		WithChecksumVerificationMode(options.OnTableAndBlockRead).
		WithVerifyValueChecksum(true)
	db, err = badger.Open(opt)
	if err != nil && strings.Contains(err.Error(), "Another process is using this Badger database") {
		err = ErrInUse // of a version without our own lock
	}
	return db, err
}

// A value has two entries: itself, and when it was last used and how large it is.
func entry(of byte, kind Kind, key Key) []byte {
	return append([]byte{of, byte(kind)}, key[:]...)
}

const (
	ofValue = 'v'
	ofUse   = 'u'
)

// now is the present hour.
var now = func() uint64 { return uint64(time.Now().Unix() / 3600) }

func use(size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, now())
	return binary.LittleEndian.AppendUint64(b, uint64(size))
}

// Get returns the value under a key, verified. What is not there, or not as it was
// put, is a miss.
func (s *Store) Get(kind Kind, key Key) (value []byte, ok bool) {
	var stored, used []byte
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(entry(ofValue, kind, key))
		if err != nil {
			return err
		}
		if stored, err = item.ValueCopy(nil); err != nil {
			return err
		}
		if item, err = txn.Get(entry(ofUse, kind, key)); err != nil {
			return err
		}
		used, err = item.ValueCopy(nil)
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) && stored == nil {
		return nil, false
	}
	if err == nil {
		value, err = unseal(kind, key, stored)
	}
	if err != nil || len(used) != 16 {
		s.Damaged++
		s.drop(kind, key)
		return nil, false
	}
	if binary.LittleEndian.Uint64(used) != now() && !s.readOnly {
		// That a value seems older than it is does no harm.
		_ = s.db.Update(func(txn *badger.Txn) error { return txn.Set(entry(ofUse, kind, key), use(len(stored))) })
	}
	return value, true
}

// drop removes a value.
func (s *Store) drop(kind Kind, key Key) {
	if s.readOnly {
		return
	}
	_ = s.db.Update(func(txn *badger.Txn) error {
		if err := txn.Delete(entry(ofUse, kind, key)); err != nil {
			return err
		}
		return txn.Delete(entry(ofValue, kind, key))
	})
}

// Put keeps a value. A store that can be read only keeps nothing, and that is no
// error.
func (s *Store) Put(kind Kind, key Key, value []byte) error {
	if s.readOnly {
		return nil
	}
	stored, err := seal(kind, key, value)
	if err != nil {
		return err
	}
	return s.put(kind, key, stored, use(len(stored)))
}

func (s *Store) put(kind Kind, key Key, stored, used []byte) error {
	return s.db.Update(func(txn *badger.Txn) error {
		if err := txn.Set(entry(ofValue, kind, key), stored); err != nil {
			return err
		}
		return txn.Set(entry(ofUse, kind, key), used)
	})
}

// Close closes the store; what was put is kept from then on. A store that has
// outgrown its limit is made smaller first.
func (s *Store) Close() error {
	var err error
	if !s.readOnly && s.max > 0 && diskUse(folder(s.dir)) > s.max {
		_, err = s.GC(s.max / 5 * 4)
	}
	if s.db != nil {
		s.merged()
		if err2 := s.db.Close(); err == nil {
			err = err2
		}
	}
	if s.unlock != nil {
		s.unlock()
	}
	return err
}

// Each use of a store leaves a table at the lowest level, and Badger merges them while
// it is open, which may be too short a time. Beyond lowTables, closing waits for it,
// lowWait at most: a read looks into each of them.
const (
	lowTables = 16
	lowWait   = 10 * time.Second
)

// merged waits until few tables are left at the lowest level.
func (s *Store) merged() {
	if s.readOnly {
		return
	}
	for end := time.Now().Add(lowWait); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if levels := s.db.Levels(); len(levels) == 0 || levels[0].NumTables <= lowTables {
			return
		}
	}
}

// A Stat says what a store holds.
type Stat struct {
	Values map[Kind]int
	Bytes  map[Kind]int64 // as stored
	Disk   int64          // of all files
	Oldest time.Time      // the last use of the value unused for longest
}

// used is what is known of a value without reading it.
type used struct {
	kind Kind
	key  Key
	hour uint64
	size int64
}

// values lists the values, those used last first; of equal hours in the order of
// their keys.
func (s *Store) values() ([]used, error) {
	var list []used
	err := s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{ofUse}, PrefetchValues: true, PrefetchSize: 100})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			k := it.Item().Key()
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			if len(k) == 2+len(Key{}) && len(v) == 16 {
				list = append(list, used{Kind(k[1]), Key(k[2:]), binary.LittleEndian.Uint64(v), int64(binary.LittleEndian.Uint64(v[8:]))})
			}
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b used) int {
		switch {
		case a.hour > b.hour:
			return -1
		case a.hour < b.hour:
			return 1
		}
		return 0
	})
	return list, err
}

// Stat counts what is there. Cost: the number of values.
func (s *Store) Stat() (Stat, error) {
	list, err := s.values()
	st := Stat{Values: map[Kind]int{}, Bytes: map[Kind]int64{}, Disk: diskUse(folder(s.dir))}
	for _, u := range list {
		st.Values[u.kind]++
		st.Bytes[u.kind] += u.size
		st.Oldest = time.Unix(int64(u.hour)*3600, 0)
	}
	return st, err
}

// GC drops the values unused for longest until those left have max bytes at most,
// and gives back all space that is not theirs: what is left is copied into a new
// database, which takes the place of the old one. It returns how many values went.
// Killed at any moment it leaves the old store, the new one, or an empty one.
func (s *Store) GC(max int64) (dropped int, err error) {
	if s.readOnly {
		return 0, fmt.Errorf("%s can be read only", s.dir)
	}
	list, err := s.values()
	if err != nil {
		return 0, err
	}
	dir := folder(s.dir)
	fresh, err := openBadger(dir+".new", false)
	if err != nil {
		return 0, err
	}
	to := &Store{db: fresh}
	var size int64
	for _, u := range list {
		if size += u.size; size > max {
			dropped++
			continue
		}
		if err = s.copy(to, u); err != nil {
			break
		}
	}
	if err2 := fresh.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.RemoveAll(dir + ".new")
		return 0, err
	}
	if err := s.db.Close(); err != nil {
		return 0, err
	}
	if err = os.Rename(dir, dir+".old"); err == nil {
		err = os.Rename(dir+".new", dir)
	}
	os.RemoveAll(dir + ".old")
	var err2 error
	if s.db, err2 = openBadger(dir, false); err == nil {
		err = err2
	}
	return dropped, err
}

// copy puts a value into another store as it is stored. One that does not fit its
// checksum stays behind.
func (s *Store) copy(to *Store, u used) error {
	var stored []byte
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(entry(ofValue, u.kind, u.key))
		if err == nil {
			stored, err = item.ValueCopy(nil)
		}
		return err
	})
	if err == nil {
		_, err = unseal(u.kind, u.key, stored)
	}
	if err != nil {
		s.Damaged++
		return nil
	}
	b := binary.LittleEndian.AppendUint64(nil, u.hour)
	return to.put(u.kind, u.key, stored, binary.LittleEndian.AppendUint64(b, uint64(len(stored))))
}

// Clear removes all that stores of any layout keep in dir, and nothing else. A store
// in use is ErrInUse.
func Clear(dir string) error {
	unlock, err := lock(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range list {
		if ours.MatchString(f.Name()) && f.IsDir() {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, f.Name())))
		}
	}
	return err
}
