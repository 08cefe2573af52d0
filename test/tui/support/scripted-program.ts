// A program that shows the scripted driver on the real screen; run in tmux by the tests.
import { setTimeout } from "node:timers/promises";
import { runSessionScreen } from "../../../src/tui/index.ts";
import { ScriptedDriver } from "./scripted-driver.ts";

const driver = new ScriptedDriver(process.argv.includes("--modal") ? "modal" : "asked");
if (process.argv.includes("--slow-close")) driver.close = () => setTimeout(700);
process.exitCode = await runSessionScreen({
  driver,
  io: { stdin: process.stdin, stdout: process.stdout, env: process.env },
});
console.log(`LEFT ${process.exitCode} ${JSON.stringify(driver.told)}`);
