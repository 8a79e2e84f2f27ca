/** Pages and streams over a log that the test sets, for clients of every kind. */
import { ServerResponse, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { type Follow, followPage, followStream } from "../../../src/api/events/follow.ts";
import type { EventHost } from "../../../src/api/events/host.ts";
import type { ReadEvents } from "../../../src/api/events/reader.ts";
import { createEventSeats } from "../../../src/api/events/seats.ts";
import type { EventRow } from "../../../src/db/events/event-row.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";

const principal = { organization: { id: newId(), num: 1 }, user: { id: newId() }, apiKeyId: null };
const signal = new AbortController().signal;

/** Follows a log of ten events from its beginning. */
const follow: Follow = {
  asker: { userId: "", credentials: "", authenticateAgain: () => Promise.reject(new Error("not asked")) },
  principal: principal as unknown as Principal,
  filter: {},
  after: 0,
  last: 10,
};

function hostOf(read: ReadEvents): EventHost {
  const hub = { later: () => new Promise<undefined>(() => undefined), isDraining: false };
  return { hub: hub as unknown as EventHost["hub"], seats: createEventSeats(100), read };
}

const eventAt = (position: number): EventRow => ({
  num: position,
  position,
  id: newId(),
  type: "organization.updated",
  occurred_at: new Date(),
  organization_id: principal.organization.id,
  space_id: null,
  resource: { type: "organization", id: principal.organization.id },
  actor: { type: "system", user_id: null, api_key_id: null },
  request_id: null,
  data: {},
});

test("who looks through a long log has a seat from the second read on, and so a bound", async () => {
  const seats: number[] = [];
  const host = hostOf(async (_asker, { after }) => {
    seats.push(host.seats.counts().wait);
    return { items: after < 9 ? [] : [eventAt(10)], next: after + 3 };
  });
  await followPage(host, follow, { limit: 1, waitMs: 30_000, signal });

  expect(seats).toEqual([0, 1, 1, 1]);
  expect(host.seats.counts().wait).toBe(0);
});

test("a client that reads slowly gets no more than its rights let through a while ago", async () => {
  const reads: number[] = [];
  const host = hostOf(async (_asker, { after }) => {
    reads.push(after);
    if (after > 0) throw new DomainError("unauthenticated", "Invalid API key");
    return { items: [1, 2, 3].map(eventAt), next: 10 };
  });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  let text = "";
  let elapsed = 0;
  vi.spyOn(performance, "now").mockImplementation(() => elapsed);
  vi.spyOn(response, "write").mockImplementation((part: string) => {
    text += part;
    // The second event takes the client long.
    if (text.split("data: ").length === 3) elapsed += 5_000;
    return true;
  });
  const log = { error: () => undefined };
  await followStream(host, response, { ...follow, log, requestId: "" });
  vi.restoreAllMocks();

  expect(reads).toEqual([0, 2]);
  expect(text.match(/"type":"organization.updated"/g)).toHaveLength(2);
  expect(text).toContain('"status":401');
});
