/** What a tool is. Tools read within the scope that they are given, and change nothing. */
import type { OpenedContent } from "../../domain/tenancy/opened-content.ts";
import type { Passage } from "../../domain/work/turn.ts";
import type { ToolDefinition } from "../../models/chat/chat-model.ts";
import type { SearchDeps } from "../../search/hybrid.ts";
import type { KnowledgeScope } from "../reach.ts";

export interface ToolContext {
  readonly deps: SearchDeps;
  /** What the agent may read, within the reach of its caller. */
  readonly scope: KnowledgeScope;
  /** Whether the model may read what stands beside passages: not the built-in one, which would quote it. */
  readonly neighbours: boolean;
  /** The agent's `config` for this tool. */
  readonly config: Readonly<Record<string, unknown>> | null;
  /** Notes a document in the audit log that the tool opens by its id; it is not shown before that is done. */
  readonly opened: (content: OpenedContent) => Promise<void>;
}

/**
 * A text for the model, with the documents that it names; passages, which the turn numbers for citations; or
 * what somebody else's server says went wrong: a result, since messages of errors are logged.
 */
export type ToolOutput =
  | { readonly type: "text"; readonly text: string; readonly documentIds?: readonly string[] }
  | { readonly type: "passages"; readonly passages: readonly Passage[] }
  | { readonly type: "error"; readonly text: string };

export interface Tool extends ToolDefinition {
  /** True if the tool asks only this service's data: quick and bounded, so an API process may run it. */
  readonly isNear: boolean;
  /**
   * @throws DomainError `invalid` for arguments that the tool does not take, with a message for the model;
   *   errors of the class `outage`, after which the activity is tried again; other errors.
   */
  run(context: ToolContext, args: unknown, signal: AbortSignal): Promise<ToolOutput>;
}
