// The only import of the MCP SDK. Loaded when the first server is connected; in the build it is a file of its own, so that
// it costs nothing at a start without servers.
export { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
