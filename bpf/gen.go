package bpf

//go:generate go tool bpf2go -target bpfel -go-package bpf -type event -type cause probe probe.bpf.c -- -Iheaders -I. -O2 -g -mcpu=v3 -Wall -Werror -Wno-unused-function
