/** The agent that stands for the configured model alone: no prompt, no tools, no documents of its own. */
import type { Agent } from "../db/turns/agents-in-chat.ts";

/** The id of nothing: it is written nowhere. */
const NIL = "00000000-0000-0000-0000-000000000000";

export function modelAgent(organizationId: string, model: string): Agent {
  return {
    id: NIL,
    isModel: true,
    organization_id: organizationId,
    space_id: NIL,
    space_num: 0,
    name: model,
    agent_type: "simple",
    model,
    system_prompt: "",
    temperature: null,
    max_tokens: null,
    reasoning_config: null,
    tool_attachments: [],
    show_citations: true,
    require_support: false,
    is_public: false,
    data_access_mode: "none",
    allowed_folder_ids: null,
  };
}
