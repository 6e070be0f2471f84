/** The whole path through real ingress controllers: Traefik with two kinds of objects, and haproxy-ingress. */
import { haproxyIngressSetup, traefikTlsRouteSetup, traefikSetup } from './edge-setups.ts';
import { testEdgeSetups } from './path-through-edges.ts';

testEdgeSetups(traefikTlsRouteSetup, haproxyIngressSetup, traefikSetup);
