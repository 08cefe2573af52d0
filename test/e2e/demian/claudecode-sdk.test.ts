// Claude Code as demian's agent, by its Agent SDK.
import { testClaudeCode } from "./claudecode-suite.ts";

testClaudeCode("agent-sdk");
