package shadow

// Partition modes (SlimState, section V-A). n is the number of elements.
const (
	Coarse = iota // one part
	Block         // blocks of d elements; d divides n
	Stride        // elements d apart; d divides n
	Split         // the first d elements, and the rest
	Prefix        // each of the first d elements, and the rest
	Fine          // each element; final
)

// Sufficient reports whether the strided range <b:e:k> is a union of parts, so that
// it can be committed to the partition as it is. 0 <= b <= e < n, k >= 1, and k
// divides e-b; so also below.
func Sufficient(mode uint32, d, n, b, e, k uintptr) bool {
	switch mode {
	case Coarse:
		return k == 1 && b == 0 && e == n-1
	case Block:
		return k == 1 && b%d == 0 && (e+1)%d == 0
	case Stride:
		return d%k == 0 && b < k && n-1 < e+k
	case Split:
		return k == 1 && (b == 0 || b == d) && (e == d-1 || e == n-1)
	case Prefix:
		return e < d || d == n-1 || k == 1 && e == n-1 && b <= d
	}
	return true
}

// Refine is Table I of SlimState: it returns the mode and parameter of a partition
// that is sufficient for <b:e:k> and whose parts are parts of the given one or
// pieces of them. Rules apply in the order of the table.
//
// The paper says that a sufficient partition is kept, but its rows for PREFIX do
// not say so for a footprint that covers the rest and some of the prefix, such as
// the whole array. Here it is kept.
func Refine(mode uint32, d, n, b, e, k uintptr) (uint32, uintptr) {
	if Sufficient(mode, d, n, b, e, k) {
		return mode, d
	}
	switch mode {
	case Coarse:
		if k == 1 && b == 0 {
			return Split, e + 1
		}
		if k == 1 && e == n-1 {
			return Split, b
		}
		if d := gcd(gcd(n, b), e+1); k == 1 && d > 1 {
			return Block, d
		}
		if b < k && n-1 < e+k && k > 1 && n%k == 0 {
			return Stride, k
		}
		if e < (n+3)/4 { // e < n/4 in numbers with fractions
			return Prefix, e + 1
		}
	case Block:
		if d := gcd(gcd(d, b), e+1); k == 1 && d > 1 {
			return Block, d
		}
	case Split:
		if d := gcd(gcd(gcd(n, d), b), e+1); k == 1 && d > 1 {
			return Block, d
		}
		m := d
		if e > m {
			m = e
		}
		if m < (n+3)/4 {
			return Prefix, m + 1
		}
	case Stride:
		if l := k / gcd(k, d) * d; l > 1 && n%l == 0 && b < k && n-1 < e+k {
			if l == n {
				return Fine, 0
			}
			return Stride, l
		}
	case Prefix:
		if 2*e < n-1 {
			return Prefix, 2 * e
		}
	}
	return Fine, 0
}

// Part returns the part that element i is in. Parts are numbered from 0.
func Part(mode uint32, d, i uintptr) uintptr {
	switch mode {
	case Block:
		return i / d
	case Stride:
		return i % d
	case Split:
		if i >= d {
			return 1
		}
		return 0
	case Prefix:
		if i >= d {
			return d
		}
		return i
	case Fine:
		return i
	}
	return 0
}

// Parts returns the number of parts.
func Parts(mode uint32, d, n uintptr) uintptr {
	switch mode {
	case Block:
		return n / d
	case Stride:
		return d
	case Split:
		return 2
	case Prefix:
		return d + 1
	case Fine:
		return n
	}
	return 1
}

// First returns the first element of part j.
func First(mode uint32, d, j uintptr) uintptr {
	switch mode {
	case Block, Split:
		return j * d
	case Coarse:
		return 0
	}
	return j
}
