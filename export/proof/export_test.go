package proof

// Settle makes the claims that the checker asks about the strongest that hold.
var Settle = settle
