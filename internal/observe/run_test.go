package observe

import "testing"

func TestWithGenerics(t *testing.T) {
	const list = `# a/old v1.0.0
## explicit; go 1.12
a/old
# a/silent v1.0.0
a/silent
# a/explicit v1.0.0
## explicit
a/explicit
# a/new v1.0.0
## explicit; go 1.22.0
a/new
# a/replaced => ./there
`
	const want = `# a/old v1.0.0
## explicit; go 1.21
a/old
# a/silent v1.0.0
## go 1.21
a/silent
# a/explicit v1.0.0
## explicit; go 1.21
a/explicit
# a/new v1.0.0
## explicit; go 1.22.0
a/new
# a/replaced => ./there
`
	if got := withGenerics(list); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
