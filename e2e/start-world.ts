/** Starts a world and waits to be killed, like a test runner. usage: start-world.ts */
import { World } from '../world/world.ts';

const world = await World.start({ tenants: { a: {} } });
console.log(world.id);
setInterval(() => {}, 1_000_000);
