/** The task queues of Temporal, by what runs on them. */
export const QUEUES = {
  /** Workflows of documents, batches, deletions and maintenance. */
  pipeline: "pipeline",
  /** Parsing and chunking. */
  parse: "parse",
  /** Embedding and publishing. */
  embed: "embed",
  /** Both steps of suspected documents, one at a time in a process of their own. */
  isolated: "isolated",
  /** Tools of agents. */
  tools: "tools",
  /** Deliveries of events to webhooks. */
  webhooks: "webhooks",
  /** Workflows of chat turns, polled by API and worker processes. */
  chat: "chat",
} as const;

export type QueueName = keyof typeof QUEUES;
