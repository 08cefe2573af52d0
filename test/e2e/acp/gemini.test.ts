// Google's gemini under the daemon.
import { testAgent } from "./suite.ts";
import { openGemini } from "./world.ts";

testAgent({
  title: /gemini/i,
  open: openGemini,
  command: (line) => `#mock:bash ${line}`,
  declined: "success",
  rules: [".gemini/settings.json", ".gemini/policies", "project/.gemini"],
  failures: [["#mock:err 400", "bad_request"]],
  forSession: false,
});
