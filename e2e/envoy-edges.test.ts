/** The whole path through the ingress controllers that use Envoy: Envoy Gateway and Contour. */
import { contourWay, envoyGatewayWay } from './edge-ways.ts';
import { testPathThrough } from './path-through-edges.ts';

testPathThrough(envoyGatewayWay, contourWay);
