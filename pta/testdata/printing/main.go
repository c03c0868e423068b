// The program of the example of package pta that spends its effort.
package main

import "fmt"

func main() { fmt.Println("hello") }
