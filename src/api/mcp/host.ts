/** What this process tells of itself, and the requests of sessions that it answers now, to cancel them. */

export interface McpHost {
  /** Of the service, which clients are told. */
  readonly version: string;
  /** Notes a request that runs. @returns what takes it off again */
  enter(sessionId: string, requestId: string, cancel: () => void): () => void;
  /** @returns whether it runs here */
  cancel(sessionId: string, requestId: string): boolean;
  counts(): number;
}

export function createMcpHost(version: string): McpHost {
  const running = new Map<string, () => void>();
  const requestName = (sessionId: string, requestId: string): string => `${sessionId} ${requestId}`;
  return {
    version,
    enter(sessionId, requestId, cancel) {
      const name = requestName(sessionId, requestId);
      running.set(name, cancel);
      return () => {
        // A client that used the id twice has two; the later one is found.
        if (running.get(name) === cancel) running.delete(name);
      };
    },
    cancel(sessionId, requestId) {
      const cancel = running.get(requestName(sessionId, requestId));
      cancel?.();
      return cancel !== undefined;
    },
    counts: () => running.size,
  };
}
