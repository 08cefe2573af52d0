// The HTTP client over fetch. The rest of it is tested with a daemon (test/web/client.test.ts).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchTransport } from "../../src/client/http/fetch-transport.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

let server: Server;
let origin = "";
beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(200);
    response.write("first");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("a stream ends when it is aborted, also if garbage was collected while it was read", async () => {
  const caller = new AbortController();
  const { signal } = caller;
  let over: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    over = (async () => {
      const { chunks } = await fetchTransport({ origin, token: "t" }).send({
        method: "GET",
        path: "/",
        signal,
      });
      for await (const _chunk of chunks) resolve();
    })().catch((error: unknown) => error);
  });
  for (let round = 0; round < 5; round += 1) {
    await nextTick();
    collectGarbage();
  }
  caller.abort();
  expect(await over).toMatchObject({ code: "aborted" });
});
