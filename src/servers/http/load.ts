// The server and its listener, which whoever needs one of them first loads together: a daemon whose files were replaced
// by a newer build after that can still open its port.
export { listenOnHttp } from "./listen.ts";
export { createHttpServer } from "./server.ts";
