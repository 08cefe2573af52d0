// Claude Code as demian's agent, by its program.
import { testClaudeCode } from "./claudecode-suite.ts";

testClaudeCode("cli");
