/** The types that the files of the chat bench share. */
import type { Stack } from "../../test/support/stack/stack.ts";
import type { LiteLlm } from "./litellm.ts";
import type { Measured } from "./load.ts";

/** Who answers a chat: the provider itself, or what stands between it and the client. */
export type Name = "direct" | "holdfast" | "litellm";

/** Milliseconds by which the event loop of the API ran late. */
export interface EventLoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** What was measured for one delay, agent and concurrency. */
export interface Cell {
  readonly measured: Map<Name, Measured>;
  /**
   * Open turns of the API, counted each second of the slices that count: a turn is open while it answers and
   * until its bookkeeping has ended.
   */
  readonly openTurns: number[];
  readonly slicesAgain: number;
  /** The longest time from the end of a slice's load until no workflow of a turn was open. */
  readonly drainMs: number;
  readonly eventLoop: EventLoopDelay;
}

/** What is running for one delay of the provider. */
export interface Bench {
  readonly stack: Stack;
  readonly litellm: LiteLlm | undefined;
  readonly providerUrl: string;
  readonly openTurns: () => Promise<number>;
  readonly openWorkflows: () => Promise<number>;
  readonly eventLoop: () => Promise<EventLoopDelay>;
  close(): Promise<void>;
}
