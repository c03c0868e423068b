module github.com/bfverify/bfverify

go 1.26
