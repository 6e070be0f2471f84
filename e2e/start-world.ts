/** Starts a world and waits until it is killed. usage: start-world.ts */
import { World } from '../world/world.ts';

const world = await World.start({ tenants: { a: {} } });
console.log(world.id);
setInterval(() => {}, 1_000_000);
