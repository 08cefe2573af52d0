// Claude Code as demian's agent, run as a program.
import { testClaudeCode } from "./claudecode-suite.ts";

testClaudeCode("cli");
