// A program that shows the scripted driver on the real screen; run in tmux by the tests.
import { runSessionScreen } from "../../../src/tui/index.ts";
import { ScriptedDriver } from "./scripted-driver.ts";

const driver = new ScriptedDriver(process.argv.includes("--modal") ? "modal" : "asked");
process.exitCode = await runSessionScreen({
  driver,
  io: { stdin: process.stdin, stdout: process.stdout, env: process.env },
});
console.log(`LEFT ${process.exitCode} ${JSON.stringify(driver.told)}`);
