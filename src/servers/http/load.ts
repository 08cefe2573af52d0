// The server and its listener, loaded together: a daemon whose files were replaced by a newer build can still open its
// port.
export { listenOnHttp } from "./listen.ts";
export { createHttpServer } from "./server.ts";
