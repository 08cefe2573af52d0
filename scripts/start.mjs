// npm start: installs and builds what is missing, then runs the daemon in the foreground, with the dashboard.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { prepare, root } from "./prepare.mjs";

prepare();
// A port that the user set by a flag, the environment or the config file also serves --web.
const daemon = spawn(join(root, "dist/blemeesd.js"), ["--web", ...process.argv.slice(2)], {
  stdio: "inherit",
});
// The terminal sends Ctrl-C to both processes; a service manager signals only this one.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => daemon.kill("SIGTERM"));
daemon.on("exit", (code, signal) => {
  process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
});
