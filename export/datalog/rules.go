package datalog

// domains are the domains; their sizes follow.
var domains = []string{"F", "N", "T", "S", "M", "I"}

// relations declares the relations, those that Write fills first.
const relations = `
# Functions. Rows count where their function is reached.
root(f:F)
param(f:F, i:I, j:I, v:N)
result(f:F, j:I, v:N)
arity(f:F, i:I)
nameless(f:F)
unruly(f:F)

# Rows: variables get addresses, what others hold, parts of what they point to.
alloc(f:F, v:N, c:N)
copy(f:F, d:N, s:N)
addr(f:F, d:N, b:N, i:I)
load(f:F, d:N, b:N, i:I)
store(f:F, s:N, b:N, i:I)
ghost(f:F, d:N, b:N)
assertIface(f:F, d:N, x:N, t:T)
assertWord(f:F, d:N, x:N)
assertLeaf(f:F, d:N, x:N, t:T, i:I)
converts(f:F, t:T, u:T)

# Calls.
static(f:F, s:S, g:F)
dynamic(f:F, s:S, v:N)
invoke(f:F, s:S, v:N, m:M)
arg(s:S, i:I, j:I, v:N)
args(s:S, i:I)
dst(s:S, j:I, v:N)

# Cells. A cell is a node, since it is a variable.
shift(c:N, i:I, d:N)
starts(c:N, t:T)
base(c:N, t:T)
box(c:N, t:T)
first(c:N, d:N)
plain(c:N)
function(c:N, f:F)
bind(c:N, v:N, d:N)
hidden(c:N, g:N)

# Types.
typ(v:N, t:T)
free(v:N)
target(t:T, u:T)
funcs(t:T)
iface(t:T)
element(t:T, u:T)
implements(t:T, i:T)
either(t:T, i:T)
method(t:T, m:M, f:F)
pointerMethod(t:T, m:M, f:F)
receiver(t:T, m:M, i:I, v:N)
this(f:F, v:N)
pointee(t:T, u:T)
array(t:T, u:T)
field(t:T, i:I, u:T)
signature(t:T, i:I, u:T)
mapPart(t:T, i:I, u:T)
chanPart(t:T, i:I, u:T)

# What follows.
reached(f:F)
outside(f:F) printtuples
calls(s:S, f:F) printtuples
pts(v:N, c:N) printtuples
edge(d:N, s:N)
give(v:N, c:N)
isa(c:N, t:T)
types(c:N, t:T)
conv(t:T, u:T)
same(t:T, u:T)
united(t:T, u:T)
class(t:T, u:T)

# Joins on the way.
addrs(b:N, d:N, i:I)
loads(b:N, d:N, i:I)
stores(b:N, s:N, i:I)
ghosts(b:N, d:N)
words(x:N, d:N)
ifaces(x:N, d:N, t:T)
leaves(x:N, d:N, t:T, i:I)
values(v:N, s:S)
invokes(v:N, s:S, m:M)
asks(v:N, c:N, t:T)
asksTarget(v:N, c:N, u:T)
asksFunc(v:N, c:N)
asksIface(v:N, c:N, t:T)
asksBox(v:N, c:N, t:T, u:T)
asksPlain(v:N, c:N, t:T, u:T)
addrsAt(c:N, d:N, i:I)
loadsAt(c:N, d:N, i:I)
storesAt(c:N, s:N, i:I)
ghostsAt(c:N, d:N)
ifacesAt(c:N, d:N, t:T)
ifacesBox(c:N, d:N, t:T, u:T)
wordsAt(c:N, d:N)
leavesAt(c:N, d:N, t:T, i:I)
leavesBox(c:N, d:N, i:I)
leavesFirst(b:N, d:N, i:I)
leavesPlain(c:N, d:N, t:T, i:I)
leavesElem(c:N, d:N, u:T, i:I)
leavesIsa(c:N, d:N, i:I)
valuesAt(c:N, s:S)
valuesOf(c:N, s:S, g:F)
valuesArgs(c:N, s:S, g:F, i:I)
valuesFit(c:N, s:S, g:F)
invokesAt(c:N, s:S, m:M)
invokesBox(c:N, s:S, m:M, t:T)
receives(c:N, i:I, p:N)
receivesFirst(b:N, i:I, p:N)
invokesPlain(c:N, s:S, m:M, t:T)
invokesOn(c:N, s:S, g:F)
passes(g:F, i:I, j:I, a:N)
returns(g:F, j:I, d:N)
convPointee(a:T, u:T)
convField(a:T, i:I, u:T)
convSignature(a:T, i:I, u:T)
convMap(a:T, i:I, u:T)
convChan(a:T, i:I, u:T)
convArray(a:T, u:T)
sameField(a:T, i:I, u:T)
sameArray(a:T, u:T)
sameElem(a:T, u:T)
`

// rules are those of package pta without contexts. Numbers are those of its
// documentation.
//
// Each rule joins two relations at most, on columns that both have, and what a
// longer one would join is a relation of its own, named after what it leads to.
// Engines then have no order of joins to choose: Z3 chose, for loads(b, d, i),
// pts(b, c), shift(c, i, e) at once, to join the first and the last by the offset
// alone. It puts longer rules together again unless it is told not to: see the
// package comment.
const rules = `
# Reached functions, and their rows.
reached(f) :- root(f).
reached(g) :- calls(s, g).
outside(f) :- reached(f), unruly(f).
give(v, c) :- reached(f), alloc(f, v, c).
edge(d, s) :- reached(f), copy(f, d, s).
addrs(b, d, i) :- reached(f), addr(f, d, b, i).
loads(b, d, i) :- reached(f), load(f, d, b, i).
stores(b, s, i) :- reached(f), store(f, s, b, i).
ghosts(b, d) :- reached(f), ghost(f, d, b).
words(x, d) :- reached(f), assertWord(f, d, x).
ifaces(x, d, t) :- reached(f), assertIface(f, d, x, t).
leaves(x, d, t, i) :- reached(f), assertLeaf(f, d, x, t, i).
calls(s, g) :- reached(f), static(f, s, g).
values(v, s) :- reached(f), dynamic(f, s, v).
invokes(v, s, m) :- reached(f), invoke(f, s, v, m).

# What is given, or flows, is kept as far as it fits: (F1) to (F3).
give(d, c) :- edge(d, s), pts(s, c).
pts(v, c) :- give(v, c), free(v).
asks(v, c, t) :- give(v, c), typ(v, t).
asksTarget(v, c, u) :- asks(v, c, t), target(t, u).
pts(v, c) :- asksTarget(v, c, u), isa(c, u).
asksFunc(v, c) :- asks(v, c, t), funcs(t).
pts(v, c) :- asksFunc(v, c), function(c, f).
asksIface(v, c, t) :- asks(v, c, t), iface(t).
asksBox(v, c, t, u) :- asksIface(v, c, t), box(c, u).
pts(v, c) :- asksBox(v, c, t, u), implements(u, t).
asksPlain(v, c, t, u) :- asksIface(v, c, t), types(c, u).
pts(v, c) :- asksPlain(v, c, t, u), either(u, t).
isa(c, u) :- base(c, t), class(t, u).
types(c, t) :- starts(c, t), plain(c).
types(c, u) :- plain(c), isa(c, u).

# Addresses, loads, stores.
addrsAt(c, d, i) :- addrs(b, d, i), pts(b, c).
give(d, e) :- addrsAt(c, d, i), shift(c, i, e).
loadsAt(c, d, i) :- loads(b, d, i), pts(b, c).
edge(d, e) :- loadsAt(c, d, i), shift(c, i, e).
storesAt(c, s, i) :- stores(b, s, i), pts(b, c).
edge(e, s) :- storesAt(c, s, i), shift(c, i, e).
ghostsAt(c, d) :- ghosts(b, d), pts(b, c).
give(d, g) :- ghostsAt(c, d), hidden(c, g).

# Assertions: boxes, and pointers that got into interfaces as they are.
ifacesAt(c, d, t) :- ifaces(x, d, t), pts(x, c).
ifacesBox(c, d, t, u) :- ifacesAt(c, d, t), box(c, u).
give(d, c) :- ifacesBox(c, d, t, u), implements(u, t).
give(d, c) :- ifacesAt(c, d, t), plain(c).
wordsAt(c, d) :- words(x, d), pts(x, c).
give(d, c) :- wordsAt(c, d), plain(c).
leavesAt(c, d, t, i) :- leaves(x, d, t, i), pts(x, c).
leavesBox(c, d, i) :- leavesAt(c, d, t, i), box(c, t).
leavesFirst(b, d, i) :- leavesBox(c, d, i), first(c, b).
edge(d, e) :- leavesFirst(b, d, i), shift(b, i, e).
leavesPlain(c, d, t, i) :- leavesAt(c, d, t, i), plain(c).
leavesElem(c, d, u, i) :- leavesPlain(c, d, t, i), element(t, u).
leavesIsa(c, d, i) :- leavesElem(c, d, u, i), isa(c, u).
edge(d, e) :- leavesIsa(c, d, i), shift(c, i, e).

# Calls of function values.
valuesAt(c, s) :- values(v, s), pts(v, c).
valuesOf(c, s, g) :- valuesAt(c, s), function(c, g).
calls(s, g) :- valuesOf(c, s, g), nameless(g).
valuesArgs(c, s, g, i) :- valuesOf(c, s, g), args(s, i).
valuesFit(c, s, g) :- valuesArgs(c, s, g, i), arity(g, i).
calls(s, g) :- valuesFit(c, s, g).
edge(v, e) :- valuesFit(c, s, g), bind(c, v, e).

# Calls by interfaces: of what boxes hold, and of pointers that are there as they are.
invokesAt(c, s, m) :- invokes(v, s, m), pts(v, c).
invokesBox(c, s, m, t) :- invokesAt(c, s, m), box(c, t).
calls(s, g) :- invokesBox(c, s, m, t), method(t, m, g).
receives(c, i, p) :- invokesBox(c, s, m, t), receiver(t, m, i, p).
receivesFirst(b, i, p) :- receives(c, i, p), first(c, b).
edge(p, e) :- receivesFirst(b, i, p), shift(b, i, e).
invokesPlain(c, s, m, t) :- invokesAt(c, s, m), types(c, t).
invokesOn(c, s, g) :- invokesPlain(c, s, m, t), pointerMethod(t, m, g).
calls(s, g) :- invokesOn(c, s, g).
give(p, c) :- invokesOn(c, s, g), this(g, p).

# Arguments and results.
passes(g, i, j, a) :- calls(s, g), arg(s, i, j, a).
edge(p, a) :- passes(g, i, j, a), param(g, i, j, p).
returns(g, j, d) :- calls(s, g), dst(s, j, d).
edge(d, r) :- returns(g, j, d), result(g, j, r).

# Classes of types: what reached code converts.
conv(t, u) :- reached(f), converts(f, t, u).
conv(t, u) :- same(t, u).
convPointee(a, u) :- conv(t, u), pointee(t, a).
same(a, b) :- convPointee(a, u), pointee(u, b).
convField(a, i, u) :- conv(t, u), field(t, i, a).
conv(a, b) :- convField(a, i, u), field(u, i, b).
convSignature(a, i, u) :- conv(t, u), signature(t, i, a).
conv(a, b) :- convSignature(a, i, u), signature(u, i, b).
convMap(a, i, u) :- conv(t, u), mapPart(t, i, a).
same(a, b) :- convMap(a, i, u), mapPart(u, i, b).
convChan(a, i, u) :- conv(t, u), chanPart(t, i, a).
same(a, b) :- convChan(a, i, u), chanPart(u, i, b).
convArray(a, u) :- conv(t, u), array(t, a).
conv(a, b) :- convArray(a, u), array(u, b).
sameField(a, i, u) :- same(t, u), field(t, i, a).
same(a, b) :- sameField(a, i, u), field(u, i, b).
sameArray(a, u) :- same(t, u), array(t, a).
same(a, b) :- sameArray(a, u), array(u, b).
sameElem(a, u) :- same(t, u), element(t, a).
united(a, b) :- sameElem(a, u), element(u, b).
united(b, a) :- united(a, b).
class(t, t) :- element(u, t).
class(t, u) :- class(t, x), united(x, u).
`
