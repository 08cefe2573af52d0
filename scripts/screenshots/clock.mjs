// Loaded before the daemon of the stage (node --import): its clock is the real one, moved by what a file says. So hours
// of work are played in seconds, and pictures show the same times whenever they are taken.
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

// Node writes the header with a clock of its own, and the dashboard goes by it.
const { writeHead } = ServerResponse.prototype;
/** @this {ServerResponse} @param {any[]} args */
ServerResponse.prototype.writeHead = function (...args) {
  this.setHeader("date", new Date().toUTCString());
  return Reflect.apply(writeHead, this, args);
};
