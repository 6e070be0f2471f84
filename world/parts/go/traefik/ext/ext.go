// Package ext stands in for an extension point that Traefik embeds in its dynamic configuration. Traefik keeps it in a
// separate module that is not published, so this part has an empty one.
package ext

// HTTP adds nothing to the HTTP configuration.
type HTTP struct{}

// Router adds nothing to a router.
type Router struct{}
