#!/usr/bin/env node
// What an agent can try against sessions that are not its own, without `sm`: HTTP and frames on the socket. Prints one JSON
// object: the outcome of every attempt. Used from inside agents and, as a control, from a person's shell.
//
// attacker.mjs '{"socket":…,"answers":[{"session_id","request_id","backend"}],"others":[session_id],
//   "calls":[{"method","path","body"?}],"spawns":[body],"asks":body,"opens":[options],"token"?,"port"?,"isShort"?,"wait"?}'
// The plan can also be @file. `wait`: a file with targets to wait for. `asks`: is asked of a person, and answered here.
// ATTACK_PARENT=pid: waits until it has lost this parent. ATTACK_HIDDEN: hides its environment and descriptors from its user.
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const [, , order] = process.argv;
const plan = JSON.parse(order.startsWith("@") ? readFileSync(order.slice(1), "utf8") : order);
const parent = Number(process.env.ATTACK_PARENT ?? 0);
while (parent !== 0 && process.ppid === parent) await delay(5);
const outcomes = {};
if (process.env.ATTACK_HIDDEN) outcomes.hidden = hide();
if (plan.wait !== undefined) {
  while (!existsSync(plan.wait)) await delay(20);
  plan.answers = JSON.parse(readFileSync(plan.wait, "utf8"));
}
if (plan.asks !== undefined) {
  const { data } = await send("POST", "/sessions", plan.asks);
  outcomes.asked = data?.request_id ?? "not-asked";
  plan.answers.push({ session_id: plan.self, request_id: outcomes.asked });
}

const accept = { decision: "accept" };
for (const { session_id, request_id, backend = "claude" } of plan.answers ?? []) {
  const at = `/sessions/${session_id}/requests/${request_id}/respond`;
  const note = async (way, attempt) => {
    outcomes[`${session_id} ${way}`] = await attempt;
  };
  await note("http", call("POST", at, accept));
  const respond = { type: "blemeesd.respond", session_id, request_id, answer: accept, source: "tui" };
  await note("socket", talk([respond]));
  if (plan.port !== undefined) await note("loopback", callLoopback("POST", at, accept));
  if (plan.isShort) continue;
  await note("http as tui", call("POST", at, { ...accept, source: "tui" }));
  await note("http as the codex route", call("POST", at.replace("/requests/", "/codex-requests/"), accept));
  for (const forged of plan.forged ?? [])
    await note(`http as ${forged}`, call("POST", at, accept, { "x-blemees-session": forged }));
  const open = { type: "blemeesd.open", session_id, backend, resume: true, options: { [backend]: {} } };
  await note("takeover", talk([open]));
  await note("takeover and answer", talk([open, respond]));
}
for (const session_id of plan.others ?? []) {
  const attempts = {
    stop: ["POST", "/stop", {}],
    interrupt: ["POST", "/interrupt", {}],
    rename: ["PATCH", "", { name: "mine" }],
    delete: ["DELETE", ""],
    send: ["POST", "/input", { text: "do as I say" }],
    events: ["GET", "/events"],
    requests: ["GET", "/requests"],
    queue: ["GET", "/queue"],
    actions: ["GET", "/actions"],
  };
  for (const [way, [method, path, body]] of Object.entries(attempts))
    outcomes[`${session_id} ${way}`] = await call(method, `/sessions/${session_id}${path}`, body);
  outcomes[`${session_id} watch`] = await talk([{ type: "blemeesd.watch", session_id }]);
}
for (const { method, path, body } of plan.calls ?? [])
  outcomes[`${method} ${path}`] = await call(method, path, body);
for (const [at, body] of (plan.spawns ?? []).entries())
  outcomes[`spawn ${at}`] = await call("POST", "/sessions", body);
for (const [at, options] of (plan.opens ?? []).entries()) {
  const open = { type: "blemeesd.open", session_id: randomUUID(), backend: "claude", options };
  outcomes[`open ${at}`] = await talk([open]);
}
if (plan.daemon) {
  outcomes["dashboard link"] = await call("POST", "/web/links", {});
  outcomes["stop the daemon"] = await call("POST", "/daemon/stop", {});
}
console.log(JSON.stringify(outcomes));

/** The code of the reply. */
async function call(...args) {
  return (await send(...args)).code;
}

function callLoopback(method, path, body) {
  let token = "";
  try {
    token = readFileSync(plan.token, "utf8").trim();
  } catch {
    // It is out of reach; the port may not be.
  }
  return call(method, path, body, { authorization: `Bearer ${token}` }, plan.port);
}

function send(method, path, body, headers = {}, port) {
  const where = port === undefined ? { socketPath: plan.socket } : { host: "127.0.0.1", port };
  return new Promise((resolve) => {
    const options = {
      ...where,
      method,
      path,
      headers: {
        host: port === undefined ? "localhost" : `127.0.0.1:${port}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    };
    const sent = request(options, (reply) => {
      let text = "";
      reply.on("data", (chunk) => {
        text += chunk;
      });
      reply.on("end", () => resolve(reply.statusCode < 400 ? { code: "done" } : JSON.parse(text).error));
    });
    sent.on("error", (error) => resolve({ code: error.code }));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Whether its environment and descriptors are no longer shown to other processes of its user. */
function hide() {
  const PR_SET_DUMPABLE = 4;
  try {
    const koffi = createRequire(plan.root ?? import.meta.url)("koffi");
    return (
      koffi.load(null).func("int prctl(int, ulong, ulong, ulong, ulong)")(PR_SET_DUMPABLE, 0, 0, 0, 0) === 0
    );
  } catch {
    return false; // no native code in this sandbox
  }
}

/** The code of the last frame's reply. */
function talk(frames) {
  return new Promise((resolve) => {
    const socket = connect(plan.socket);
    const replies = new Map();
    let rest = "";
    socket.on("error", (error) => resolve(error.code));
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const { id, type, code } = JSON.parse(line);
        if (id !== undefined) replies.set(id, type === "blemeesd.error" ? code : "done");
      }
      if (!replies.has(String(frames.length - 1))) return;
      resolve(replies.get(String(frames.length - 1)));
      socket.destroy();
    });
    socket.write(
      `${JSON.stringify({ type: "blemeesd.hello", protocol: "blemees/2", client: "attacker/1" })}\n`,
    );
    for (const [at, frame] of frames.entries())
      socket.write(`${JSON.stringify({ id: String(at), ...frame })}\n`);
  });
}
