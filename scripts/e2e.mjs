// npm run test:e2e: the tests that drive the real agents through the real daemon, against scripted models on
// loopback; no account is needed. Installs the pinned agents once, below .e2e/. Arguments go to vitest.
import { GROUPS } from "./e2e-agents.mjs";
import { provideAll } from "./e2e-install.mjs";
import { reportLanes, runLane } from "./lanes.mjs";
import { prepare } from "./prepare.mjs";

prepare();
const env = { ...process.env, ...(await provideAll(GROUPS)) };
reportLanes([runLane("e2e", ["--config", "vitest.e2e.config.ts", ...process.argv.slice(2)], { env })]);
