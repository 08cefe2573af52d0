// Claude Code as demian's agent, run with its Agent SDK.
import { testClaudeCode } from "./claudecode-suite.ts";

testClaudeCode("agent-sdk");
