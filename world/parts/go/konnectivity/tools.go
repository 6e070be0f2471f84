//go:build tools

// Package tools names the programs of this part, so that go.mod and go.sum cover them.
package tools

import (
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/server"
	_ "sigs.k8s.io/apiserver-network-proxy/cmd/agent"
)
