/** The whole path through real ingress controllers: Traefik with two kinds of objects, and haproxy-ingress. */
import { haproxyIngressWay, traefikTlsRouteWay, traefikWay } from './edge-ways.ts';
import { testPathThrough } from './path-through-edges.ts';

testPathThrough(traefikTlsRouteWay, haproxyIngressWay, traefikWay);
