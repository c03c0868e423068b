//go:build bfmodel

// Users and groups come from C or from files that nobody writes, as fresh
// records. The cache of the current user is analysed from its source.
package user

func bfMaybe() bool

type bfx_error string

func (e bfx_error) Error() string { return string(e) }

func bfx_err() error {
	switch {
	case bfMaybe():
		return UnknownUserError("name")
	case bfMaybe():
		return UnknownUserIdError(1)
	case bfMaybe():
		return UnknownGroupError("name")
	case bfMaybe():
		return UnknownGroupIdError("1")
	}
	return bfx_error("lookup")
}

func bfx_user() (*User, error) {
	if bfMaybe() {
		return nil, bfx_err()
	}
	return &User{Uid: "1", Gid: "1", Username: "name", Name: "name", HomeDir: "dir"}, nil
}

func bfx_group() (*Group, error) {
	if bfMaybe() {
		return nil, bfx_err()
	}
	return &Group{Gid: "1", Name: "name"}, nil
}

func bf_current() (*User, error) { return bfx_user() }

func bf_lookupUser(username string) (*User, error) { return bfx_user() }

func bf_lookupUserId(uid string) (*User, error) { return bfx_user() }

func bf_lookupGroup(groupname string) (*Group, error) { return bfx_group() }

func bf_lookupGroupId(gid string) (*Group, error) { return bfx_group() }

func bf_listGroups(u *User) ([]string, error) {
	if u.Gid == "" || u.Username == "" {
		return nil, bfx_err()
	}
	return []string{u.Gid}, nil
}
