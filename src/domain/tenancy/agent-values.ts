/** What a caller or a provisioning file may set of an agent, after the contract has checked it. */

interface AgentToolAttachment {
  readonly tool_id: string;
  /** Narrows what the tool reaches: `hosts` of `http_fetch`, `server` and `tools` of `mcp`. */
  readonly config?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface AgentValues {
  readonly name: string;
  readonly description: string;
  /** `simple` is a loop with tools; `rag` searches first and answers once. */
  readonly agent_type: "simple" | "rag";
  /** A deployment name; `default` is the configured model. */
  readonly model: string;
  readonly system_prompt: string;
  /** Null means the model's default. */
  readonly temperature: number | null;
  /** Null means the model's default. */
  readonly max_tokens: number | null;
  readonly reasoning_config: Readonly<Record<string, unknown>> | null;
  readonly tool_attachments: readonly AgentToolAttachment[];
  readonly is_public: boolean;
  readonly show_citations: boolean;
  /** Takes marks out of answers whose source does not support the statement. */
  readonly require_support: boolean;
  readonly save_to_inbox: boolean;
  /** The agent's space, every space that the caller reaches, or no documents at all. */
  readonly data_access_mode: "origin" | "caller" | "none";
  /** With all their subfolders; null means no restriction, an empty list means no folder. */
  readonly allowed_folder_ids: readonly string[] | null;
}

export interface NewAgent extends AgentValues {
  readonly space_id: string;
}

/** Fields that are missing or undefined stay as they are. */
export type AgentChanges = { readonly [Field in keyof AgentValues]?: AgentValues[Field] | undefined };
