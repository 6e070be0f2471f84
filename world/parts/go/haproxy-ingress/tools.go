//go:build tools

// Package tools names the programs of this part, so that go.mod and go.sum cover them.
package tools

import (
	_ "github.com/jcmoraisjr/haproxy-ingress/pkg"
)
