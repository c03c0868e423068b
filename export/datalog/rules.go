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
asks(v:N, t:T, c:N)
fits(t:T, c:N)
isa(c:N, t:T)
types(c:N, t:T)
conv(t:T, u:T)
same(t:T, u:T)
united(t:T, u:T)
class(t:T, u:T)
`

// rules are those of package pta without contexts. Numbers are those of its
// documentation.
const rules = `
# Reached functions.
reached(f) :- root(f).
reached(g) :- calls(s, g).
outside(f) :- reached(f), unruly(f).

# What is given, or flows, is kept as far as it fits. Asks stands between so that
# types are not joined with all that fits them.
give(d, c) :- edge(d, s), pts(s, c).
asks(v, t, c) :- give(v, c), typ(v, t).
pts(v, c) :- give(v, c), free(v).
pts(v, c) :- asks(v, t, c), fits(t, c).

# Rows.
give(v, c) :- reached(f), alloc(f, v, c).
edge(d, s) :- reached(f), copy(f, d, s).
give(d, e) :- reached(f), addr(f, d, b, i), pts(b, c), shift(c, i, e).
edge(d, e) :- reached(f), load(f, d, b, i), pts(b, c), shift(c, i, e).
edge(e, s) :- reached(f), store(f, s, b, i), pts(b, c), shift(c, i, e).
give(d, g) :- reached(f), ghost(f, d, b), pts(b, c), hidden(c, g).

# Assertions: boxes, and pointers that got into interfaces as they are.
give(d, c) :- reached(f), assertIface(f, d, x, t), pts(x, c), box(c, u), implements(u, t).
give(d, c) :- reached(f), assertIface(f, d, x, t), pts(x, c), plain(c).
edge(d, e) :- reached(f), assertLeaf(f, d, x, t, i), pts(x, c), box(c, t), first(c, b), shift(b, i, e).
give(d, c) :- reached(f), assertWord(f, d, x), pts(x, c), plain(c).
edge(d, e) :- reached(f), assertLeaf(f, d, x, t, i), pts(x, c), plain(c), element(t, u), isa(c, u), shift(c, i, e).

# Calls.
calls(s, g) :- reached(f), static(f, s, g).
calls(s, g) :- reached(f), dynamic(f, s, v), pts(v, c), function(c, g), args(s, i), arity(g, i).
calls(s, g) :- reached(f), dynamic(f, s, v), pts(v, c), function(c, g), nameless(g).
edge(v, e) :- reached(f), dynamic(f, s, w), pts(w, c), function(c, g), args(s, i), arity(g, i), bind(c, v, e).
calls(s, g) :- reached(f), invoke(f, s, v, m), pts(v, c), box(c, t), method(t, m, g).
edge(p, e) :- reached(f), invoke(f, s, v, m), pts(v, c), box(c, t), receiver(t, m, i, p), first(c, b), shift(b, i, e).
calls(s, g) :- reached(f), invoke(f, s, v, m), pts(v, c), types(c, t), pointerMethod(t, m, g).
give(p, c) :- reached(f), invoke(f, s, v, m), pts(v, c), types(c, t), pointerMethod(t, m, g), this(g, p).
edge(p, a) :- calls(s, g), arg(s, i, j, a), param(g, i, j, p).
edge(d, r) :- calls(s, g), dst(s, j, d), result(g, j, r).

# (F1) to (F3).
fits(t, c) :- target(t, u), isa(c, u).
fits(t, c) :- funcs(t), function(c, f).
fits(t, c) :- iface(t), box(c, u), implements(u, t).
fits(t, c) :- iface(t), either(u, t), types(c, u).
isa(c, u) :- base(c, t), class(t, u).
types(c, t) :- starts(c, t), plain(c).
types(c, u) :- base(c, t), plain(c), class(t, u).

# Classes of types: what reached code converts.
conv(t, u) :- reached(f), converts(f, t, u).
conv(t, u) :- same(t, u).
same(a, b) :- conv(t, u), pointee(t, a), pointee(u, b).
conv(a, b) :- conv(t, u), array(t, a), array(u, b).
conv(a, b) :- conv(t, u), field(t, i, a), field(u, i, b).
conv(a, b) :- conv(t, u), signature(t, i, a), signature(u, i, b).
same(a, b) :- conv(t, u), mapPart(t, i, a), mapPart(u, i, b).
same(a, b) :- conv(t, u), chanPart(t, i, a), chanPart(u, i, b).
same(a, b) :- same(t, u), array(t, a), array(u, b).
same(a, b) :- same(t, u), field(t, i, a), field(u, i, b).
united(a, b) :- same(t, u), element(t, a), element(u, b).
united(a, b) :- same(t, u), element(t, b), element(u, a).
class(t, t) :- element(u, t).
class(t, u) :- class(t, x), united(x, u).
`
