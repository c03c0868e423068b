package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"time"
)

// An account is who may log in.
type account struct {
	name string
	hash [sha256.Size]byte // of the password; anonymous has none
	home string
	last time.Time // when somebody logged in
	now  int       // how many are logged in
}

// accounts are all who may log in.
type accounts struct {
	mu     sync.RWMutex
	byName map[string]*account
}

var errLogin = errors.New("who you say you are, you are not")

// maxLogins bounds the sessions of one account.
const maxLogins = 64

func newAccounts() *accounts { return &accounts{byName: map[string]*account{}} }

// add makes an account.
func (a *accounts) add(name, password, home string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byName[name] = &account{name: name, hash: sha256.Sum256([]byte(password)), home: home}
}

// login checks a password and returns where the account begins.
func (a *accounts) login(name, password string) (home string, err error) {
	hash := sha256.Sum256([]byte(password))
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.byName[name]
	if who == nil || name != "anonymous" && subtle.ConstantTimeCompare(who.hash[:], hash[:]) == 0 {
		return "", errLogin
	}
	if who.now == maxLogins {
		return "", errors.New("too many of you are here")
	}
	who.now++
	who.last = time.Now()
	return who.home, nil
}

// logout ends what login began.
func (a *accounts) logout(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if who := a.byName[name]; who != nil {
		who.now--
	}
}

// present returns how many are logged in.
func (a *accounts) present() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	n := 0
	for _, who := range a.byName {
		n += who.now
	}
	return n
}
