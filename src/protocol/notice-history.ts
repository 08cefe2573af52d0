// Older databases contain agent-specific notice categories. Readers of history convert each notice here, so that they only
// know the categories of notices.ts. Loads no zod: the dashboard uses it.

type Data = Readonly<Record<string, unknown>>;
type ToData = (data: Data) => Data;

const same: ToData = (data) => data;
const asNative: ToData = (native) => ({ native });

const OLD: ReadonlyMap<unknown, readonly [category: string, toData: ToData]> = new Map([
  ["codex_output_delta", ["tool_output", renameItem]],
  ["acp_output_delta", ["tool_output", same]],
  ["acp_tool_progress", ["tool_progress", same]],
  ["acp_tool_input", ["tool_input", same]],
  ["codex_patch_updated", ["tool_input", renameItem]],
  ["codex_late_result", ["late_result", same]],
  ["acp_late_result", ["late_result", lateResult]],
  ["codex_subagent_result", ["subagent_finished", same]],
  ["system_api_retry", ["model_retry", convertRetry]],
  ["codex_retry", ["model_retry", same]],
  ["acp_retry", ["model_retry", asNative]],
  ["demian_provider_retry", ["model_retry", asNative]],
  ["codex_error", ["error_reported", same]],
  ["acp_error", ["error_reported", asNative]],
  ["system_compact_boundary", ["compacted", asNative]],
  ["codex_item_contextCompaction", ["compacted", asNative]],
  ["demian_context_compacted", ["compacted", asNative]],
  ["demian_agent_session_context_compacted", ["compacted", asNative]],
  [
    "system_permission_denied",
    ["permission_denied", ({ message, ...data }) => ({ ...data, reason: message })],
  ],
  ["acp_refused", ["permission_denied", same]],
  ["acp_allowed", ["permission_granted", same]],
  ["acp_request_refused", ["request_unsupported", same]],
  ["system_model_refusal_no_fallback", ["stop_reason", (native) => ({ stop_reason: "refusal", native })]],
  ["acp_stop_reason", ["stop_reason", same]],
  ["demian_stop_reason", ["stop_reason", same]],
  ["codex_warning", ["agent_notice", asNative]],
  ["codex_guardian_warning", ["agent_notice", asNative]],
  ["codex_config_warning", ["agent_notice", asNative]],
  ["codex_deprecation", ["agent_notice", asNative]],
  ["acp_notice", ["agent_notice", asNative]],
  ["demian_warning", ["agent_notice", asNative]],
  ["acp_user_message", ["injected_message", asNative]],
  ["acp_stray_text", ["late_text", same]],
  [
    "codex_task_started",
    ["native_turn_started", ({ turn_id, ...data }) => ({ ...data, native_turn_id: turn_id })],
  ],
]);

/** Converts a notice to a current category; a current one is returned unchanged. */
export function convertNotice<T extends object>(notice: T): T {
  const { category, data } = notice as { category?: unknown; data?: unknown };
  const [name, toData] = OLD.get(category) ?? [];
  if (name === undefined || toData === undefined) return notice;
  const before = typeof data === "object" && data !== null ? (data as Data) : {};
  return { ...notice, category: name, data: toData(before) };
}

function renameItem({ item_id, ...data }: Data): Data {
  return { ...data, tool_use_id: item_id };
}

function lateResult({ status, ...data }: Data): Data {
  return { ...data, is_error: status === "failed" };
}

function convertRetry(data: Data): Data {
  const { attempt, max_retries, error_status, error } = data;
  return { attempt, max_attempts: max_retries, http_status: error_status, native_code: error };
}
