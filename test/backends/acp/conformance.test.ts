import { beforeAll } from "vitest";
import { createAcpBackend } from "../../../src/backends/acp/index.ts";
import { startBackend, testBackend } from "../conformance.ts";
import { fakeHome, fakeParts } from "./fake.ts";

const prompts = {
  quick: "#say hello",
  slow: "#slow 1000 50",
  many: "#flood 3000",
  ask: "#ask make",
  askUnread: "#close-stdin #ask make",
};

for (const process of ["per-session", "shared"] as const) {
  const home = fakeHome();
  const { spec, host } = fakeParts(home);
  const backend = createAcpBackend({ ...spec, process }, host);
  const options = { cwd: home.cwd };
  // Its version is known after its first start.
  beforeAll(async () => {
    const { run } = await startBackend({ backend, options });
    await run.stop("now");
  });
  testBackend(`an ACP agent, ${process}`, { backend, options, prompts });
}
