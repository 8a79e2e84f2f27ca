import { beforeEach, expect, it, vi } from "vitest";
import { createRefusals, type Refusal } from "../../src/auth/refusals.ts";
import type { AuditEntry, CallingActor } from "../../src/db/audit/append.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

const key = (apiKeyId: string): CallingActor => ({
  authMethod: "api_key",
  apiKeyId,
  organization: { id: "acme" },
  user: { id: "ada" },
});

const refusal = (id: string, more: Partial<Refusal> = {}): Refusal => ({
  action: "documents:read",
  resource_type: "document",
  resource_id: id,
  space_id: null,
  request_id: `asks for ${id}`,
  route: "GET /v1/data/{document_id}",
  code: "document_not_found",
  ...more,
});

function folded(maxWindows?: number) {
  const rows: string[] = [];
  const write = ({ apiKeyId }: CallingActor, { resource_id, details, outcome }: AuditEntry): void => {
    rows.push(`${apiKeyId} ${outcome} ${resource_id} ${details?.code} ${details?.count}`);
  };
  return { rows, refusals: createRefusals(write, maxWindows) };
}

it("writes the first refusal at once, and those of the minute after it as one row with their count", () => {
  const { rows, refusals } = folded();
  for (const id of ["a", "b", "c", "d"]) refusals.note(key("k"), refusal(id));
  expect(rows).toEqual(["k denied a document_not_found 1"]);
  vi.advanceTimersByTime(60_000);
  expect(rows.slice(1)).toEqual(["k denied b document_not_found 3"]);
});

it("writes at most one row a minute, however long it goes on, and counts every refusal", () => {
  const { rows, refusals } = folded();
  for (let second = 0; second < 300; second += 1) {
    refusals.note(key("k"), refusal(String(second)));
    vi.advanceTimersByTime(1_000);
  }
  expect(rows).toHaveLength(6);
  const counts = rows.map((row) => Number(row.split(" ").at(-1)));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
});

it("counts keys, routes and codes apart", () => {
  const { rows, refusals } = folded();
  refusals.note(key("k"), refusal("a"));
  refusals.note(key("l"), refusal("a"));
  refusals.note(key("k"), refusal("a", { route: "DELETE /v1/data/{document_id}" }));
  refusals.note(key("k"), refusal("a", { code: "invalid" }));
  expect(rows).toHaveLength(4);
});

it("writes at once again after a quiet minute, and holds nothing then", () => {
  const { rows, refusals } = folded();
  refusals.note(key("k"), refusal("a"));
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(0);
  refusals.note(key("k"), refusal("b"));
  expect(rows).toEqual(["k denied a document_not_found 1", "k denied b document_not_found 1"]);
});

it("holds no more than its bound, and loses no count when it is full", () => {
  const { rows, refusals } = folded(2);
  for (const one of ["k", "k", "l", "m"]) refusals.note(key(one), refusal("a"));
  expect(rows).toEqual([
    "k denied a document_not_found 1",
    "l denied a document_not_found 1",
    "k denied a document_not_found 1",
    "m denied a document_not_found 1",
  ]);
});

it("writes what is counted when it is flushed and when it ends", () => {
  const { rows, refusals } = folded();
  for (const id of ["a", "b"]) refusals.note(key("k"), refusal(id));
  refusals.flush();
  expect(rows.at(-1)).toBe("k denied b document_not_found 1");
  for (const id of ["c", "d"]) refusals.note(key("k"), refusal(id));
  refusals.close();
  expect(rows.at(-1)).toBe("k denied c document_not_found 2");
  expect(vi.getTimerCount()).toBe(0);
});
