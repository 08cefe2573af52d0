// remind_s on a real daemon: the webhook is called again while a request is pending, also by the next daemon.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { startDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

interface Payload {
  event: string;
  reminder?: number;
  request?: { request_id: string };
}

test("an ignored request notifies again until it is answered, and after a restart that left its agent", async () => {
  const calls: Payload[] = [];
  const server = createServer((request, reply) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      calls.push(JSON.parse(body));
      reply.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    BLEMEESD_NOTIFY_URL: `${origin}/hook`,
    BLEMEESD_NOTIFY_ALLOW_URLS: origin,
    BLEMEESD_NOTIFY_ON: "waits",
    BLEMEESD_REMIND_S: "0.3",
    BLEMEESD_LEAVE_AGENTS: "true",
  };
  const before = await startDaemon({ env });
  const { session } = await new HttpClient({ socket: before.socket }).spawn({
    backend: "demo",
    options: { pace_ms: 0 },
    prompt: "approve it",
  });
  const reminders = (): number[] => calls.flatMap(({ reminder }) => reminder ?? []);
  await vi.waitFor(() => expect(reminders().length).toBeGreaterThan(1), PATIENT);
  expect(calls[0]).toMatchObject({ event: "waits" });
  expect(calls[0]?.reminder).toBeUndefined();
  await before.kill("SIGTERM");
  const last = Math.max(...reminders());
  calls.length = 0;
  const after = await startDaemon({ env, home: before.home });
  await vi.waitFor(() => expect(reminders().length).toBeGreaterThan(0), PATIENT);
  expect(Math.min(...reminders())).toBeGreaterThan(last);
  const http = new HttpClient({ socket: after.socket });
  const [row] = await http.allRequests({ session_id: session.session_id });
  await http.respond(session.session_id, row?.request_id ?? "", { decision: "accept" });
  await http.wait(session.session_id, { until: ["idle"] });
  // The reminders of a second request show that time has passed.
  await http.input(session.session_id, { text: "approve it" });
  const isNew = ({ request, reminder = 0 }: Payload): boolean =>
    request?.request_id !== row?.request_id && reminder > 0;
  await vi.waitFor(() => expect(calls.filter(isNew).length).toBeGreaterThan(2), PATIENT);
  const later = calls.slice(calls.findIndex(isNew)).map(({ request }) => request?.request_id);
  expect(later).not.toContain(row?.request_id);
  await http.remove(session.session_id);
  await after.close();
  await before.close();
  server.close();
});
