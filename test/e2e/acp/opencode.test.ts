// opencode behind the daemon.
import { testAgent } from "./suite.ts";
import { openOpencode } from "./world.ts";

testAgent({
  title: /opencode/i,
  open: openOpencode,
  command: (line) => `#mock:bash ${line}`,
  declined: "success",
  rules: ["config/opencode/opencode.json", "project/.opencode", "project/opencode.json"],
  forSession: true,
  change: {
    place: "cwd",
    prompt: (path) => `#mock:tool write ${JSON.stringify({ filePath: path, content: "hello\n" })}`,
  },
});
