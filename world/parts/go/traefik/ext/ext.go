// Package ext stands in for an extension point that Traefik embeds in its dynamic configuration. Traefik keeps it in a
// module of its own that is neither in the module zip nor on the module proxy, so this part brings an empty one.
package ext

// HTTP adds nothing to the HTTP configuration.
type HTTP struct{}

// Router adds nothing to a router.
type Router struct{}
