// Entry point of the HTTP server. `load.ts`, which brings the whole server, is imported on demand.
export { createHttpDoor, type HttpDoor } from "./door.ts";
export { HTTP_DEFAULTS, type HttpContext, type HttpLimits } from "./types.ts";
export { Loopback } from "./web/loopback.ts";
