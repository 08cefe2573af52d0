// opencode under the daemon.
import { testAgent } from "./suite.ts";
import { openOpencode } from "./world.ts";

testAgent({
  title: /opencode/i,
  open: openOpencode,
  command: (line) => `#mock:bash ${line}`,
  declined: "success",
  rules: ["config/opencode/opencode.json", "project/.opencode", "project/opencode.json"],
  failures: [["#mock:err 400", "bad_request"]],
  forSession: true,
  change: (path) => `#mock:tool write ${JSON.stringify({ filePath: path, content: "hello\n" })}`,
});
