// The door to the HTTP server. `load.ts` is loaded by whoever needs it: it brings the whole server with it.
export { createHttpDoor, type HttpDoor } from "./door.ts";
export { HTTP_DEFAULTS, type HttpContext, type HttpLimits } from "./types.ts";
export { Loopback } from "./web/loopback.ts";
