/** Who waits for a response looks at its row, and has it opened once. */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import type { ResponsesDeps } from "../../../../src/api/openai/responses/deps.ts";
import { followResponse } from "../../../../src/api/openai/responses/follow.ts";
import { repeat } from "../../../../src/api/openai/responses/repeat.ts";
import type { ResponseStore } from "../../../../src/api/openai/responses/store.ts";
import type { StreamAnswer } from "../../../../src/api/response.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { notFound } from "../../../../src/domain/not-found.ts";
import type { Principal } from "../../../../src/domain/tenancy/principal.ts";

const id = newId();
const principal = { organization: { id: newId(), num: 1 }, user: { id: newId() } } as unknown as Principal;
const deps = { chat: { pingMs: 15_000 } } as ResponsesDeps;
const who = { principal, lookUp: async () => principal, takeSeat: () => undefined };
const whole = { id, object: "response", status: "completed", output: [] };

/** A store whose response is under way when its row is read the first `looks` times. */
function storeOf(looks: number, after: () => string = () => "completed") {
  const counts = { rows: 0, opened: 0 };
  const store = {
    async findRow() {
      counts.rows += 1;
      const status = counts.rows <= looks ? "in_progress" : after();
      return { id, status, is_background: false, is_orphan: false };
    },
    async find() {
      counts.opened += 1;
      return { response: whole };
    },
  };
  return { counts, store: store as unknown as ResponseStore };
}

async function sent({ write }: StreamAnswer): Promise<string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const parts: string[] = [];
  response.write = ((part: unknown) => parts.push(String(part)) > 0) as never;
  response.end = ((part: unknown = "") => parts.push(String(part)) > 0) as never;
  await write(response);
  return parts.join("");
}

test("a repeat reads the row until the response has ended", async () => {
  const { counts, store } = storeOf(3);
  const signal = new AbortController().signal;
  expect(await repeat({ deps, store }, principal, { body: {} as never, signal, ...who }, id)).toEqual(whole);
  expect(counts).toEqual({ rows: 4, opened: 1 });
});

test("who follows a response that is kept whole reads its row until it has ended", async () => {
  const { counts, store } = storeOf(3);
  const answer = await followResponse(deps, store, { ...who, id, afterNo: -1, withResults: false });
  expect(await sent(answer)).toContain("response.completed");
  expect(counts).toEqual({ rows: 4, opened: 1 });
});

test("who follows a response that is deleted meanwhile gets the code of the route", async () => {
  const { store } = storeOf(2, () => {
    throw notFound("response");
  });
  const answer = await followResponse(deps, store, { ...who, id, afterNo: 4, withResults: false });
  expect(await sent(answer)).toContain(
    '"type":"error","sequence_number":5,"code":"response_not_found","message":"Response not found"',
  );
});
