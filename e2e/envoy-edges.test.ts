/** The whole path through the ingress controllers that use Envoy: Envoy Gateway and Contour. */
import { contourSetup, envoyGatewaySetup } from './edge-setups.ts';
import { testEdgeSetups } from './path-through-edges.ts';

testEdgeSetups(envoyGatewaySetup, contourSetup);
