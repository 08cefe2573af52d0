// Loaded before the screenshots' daemon (node --import): its clock is the real one plus the offset in a file. So hours
// of work are played in seconds, and the pictures always show the same times.
import { ServerResponse } from "node:http";
import { readMoved } from "./moved.mjs";

const FILE = process.env["STAGE_CLOCK"] ?? "";
const RealDate = Date;
let movedMs = 0;

function now() {
  movedMs = readMoved(FILE) ?? movedMs;
  return RealDate.now() + movedMs;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});

// Node writes the Date header with its own clock, and the dashboard uses it.
const { writeHead } = ServerResponse.prototype;
/** @this {ServerResponse} @param {any[]} args */
ServerResponse.prototype.writeHead = function (...args) {
  this.setHeader("date", new Date().toUTCString());
  return Reflect.apply(writeHead, this, args);
};
