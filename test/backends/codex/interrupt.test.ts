// Interrupting Codex: the requests that are sent, and when it ends.
import { expect, test } from "vitest";
import { askToStop } from "../../../src/backends/codex/app-server/interrupt.ts";

type Server = Parameters<typeof askToStop>[0];

function refusingServer(): { server: Server; asked: unknown[] } {
  const asked: unknown[] = [];
  const request = (_method: string, params: object) => {
    asked.push(params);
    return Promise.reject(new Error("no active turn to interrupt"));
  };
  return { server: { isAlive: true, request } as unknown as Server, asked };
}

test("a turn that ends on its own meanwhile is not interrupted again, and neither is the next one", async () => {
  const { server, asked } = refusingServer();
  const running = () => [{ threadId: "t", turnId: asked.length === 0 ? "first" : "next" }];
  const agreed = await askToStop(server, running, () => asked.length > 0);
  expect(asked).toEqual([{ threadId: "t", turnId: "first" }]);
  expect(agreed.size).toBe(0);
});

test("a turn that cannot be interrupted yet is retried", async () => {
  const { server, asked } = refusingServer();
  await askToStop(
    server,
    () => [{ threadId: "t", turnId: "first" }],
    () => asked.length === 3,
  );
  expect(asked).toHaveLength(3);
});
