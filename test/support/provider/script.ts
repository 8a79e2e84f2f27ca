/** What a scripted provider can be told to do. */

/** A request's or answer's body, as JSON. */
export type Json = Record<string, any>;

/**
 * A failure instead of an answer. `hang` never answers, `garbage` is status 200 with a body that is no JSON,
 * and `cut` ends the connection.
 */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { hang: true }
  | { garbage: true }
  | { cut: true };

/** What one chat completion does. */
export interface ChatAnswer {
  /** The content, in one chunk each. */
  pieces?: string[];
  delayMsBetweenPieces?: number;
  /** After the first piece nothing comes until this resolves. */
  heldBy?: Promise<void>;
  firstTokenMs?: number;
  toolCalls?: Array<{ id?: string; name: string; arguments: string }>;
  finishReason?: string;
  /** False: the answer has no usage. */
  usage?: boolean;
  /** How many pieces of a stream come before it breaks; 0 by default. */
  after?: number;
  /**
   * How a stream breaks: the connection is cut, nothing more comes, an error event comes, or a line that is
   * no JSON.
   */
  breakWith?: "cut" | "hang" | "error" | "garbage";
}
export type ChatReply = ChatAnswer | Fault;
export type ChatScript = ChatReply | ((body: Json) => ChatReply);

/** Whether a reply is a failure instead of an answer. */
export const isFault = (reply: ChatReply): reply is Fault =>
  "status" in reply || "hang" in reply || "garbage" in reply || "cut" in reply;
