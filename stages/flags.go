package stages

import "github.com/bfverify/bfverify/mustnot"

func (a *awaited) findFlags(locks *mustnot.Locks) {}
