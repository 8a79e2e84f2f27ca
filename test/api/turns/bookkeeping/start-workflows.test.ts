import { expect, test, vi } from "vitest";
import {
  type StartDeps,
  createBookkeepingStarts,
} from "../../../../src/api/turns/bookkeeping/start-workflows.ts";
import type { Turn, TurnResult } from "../../../../src/api/turns/turn.ts";
import type { DomainError } from "../../../../src/domain/errors.ts";

test("a turn whose start hangs is given up at once, and its workflow is cancelled if it starts after all", async () => {
  const start = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<TurnResult>();
  const cancel = vi.fn<(workflowId: string) => Promise<void>>(async () => undefined);
  const starts = createBookkeepingStarts({
    queues: { api: "api", tools: "tools" },
    starter: { startTurn: () => start.promise, cancel },
    openTurns: { release: () => undefined, leave: () => undefined },
    health: { downForMs: () => 0 },
  } as unknown as StartDeps);
  const turn = {
    row: { id: "turn", user_id: "user", api_key_id: null },
    agent: { id: "agent", space_id: "space" },
    principal: { organization: { id: "organization", num: 1 } },
    result: ended.promise,
    abort: (error: DomainError) => ended.resolve({ status: "failed", error }),
  } as unknown as Turn;

  const starting = starts.startOwn(turn, []);
  starts.giveUp();
  expect(await ended.promise).toMatchObject({ error: { code: "workflows_unavailable" } });
  start.resolve("workflow");
  await starting;
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledExactlyOnceWith("workflow"));
});
