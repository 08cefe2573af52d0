// The door to the socket server.
export { listenOnSocket, type SocketOptions } from "./listen.ts";
