/** The only place that says what a tool is: one that only reads, within the scope that it is given. */
import type { Passage } from "../../domain/work/turn.ts";
import type { ToolDefinition } from "../../models/chat/chat-model.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import type { KnowledgeScope } from "../reach.ts";

export interface ToolContext {
  readonly deps: SearchDeps;
  /** The caller's reach within the agent's. */
  readonly scope: KnowledgeScope;
  /** The tool's `config` of the agent. */
  readonly config: Readonly<Record<string, unknown>> | null;
}

/** Text for the model, with the documents that it speaks of, or passages, which the turn numbers so that the answer can cite them. */
export type ToolOutput =
  | { readonly type: "text"; readonly text: string; readonly documentIds?: readonly string[] }
  | { readonly type: "passages"; readonly passages: readonly Passage[] };

export interface Tool extends ToolDefinition {
  /** True for a tool that asks this service's own data alone: quick, bounded, and fit to run beside chats. */
  readonly isNear: boolean;
  /**
   * @throws DomainError `invalid` for arguments that are not what the tool takes (its message goes to the model); other errors by
   * their class: an outage is tried again.
   */
  run(context: ToolContext, args: unknown, signal: AbortSignal): Promise<ToolOutput>;
}
