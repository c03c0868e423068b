module bench/std

go 1.26.0
