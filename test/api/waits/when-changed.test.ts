import { expect, test } from "vitest";
import { createEventSeats, type EventSeats } from "../../../src/api/events/seats.ts";
import { whenChanged } from "../../../src/api/waits/when-changed.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";

const principal = { apiKeyId: "key", user: { id: "user" } } as unknown as Principal;
const narrowed = { apiKeyId: "key", user: { id: "user" }, isNarrowed: true } as unknown as Principal;

function waiting(seats: EventSeats, waitSeconds: number) {
  const changed = Promise.withResolvers<void>();
  const readers: Principal[] = [];
  const answer = whenChanged(
    {
      deps: {
        events: { seats } as never,
        states: { changed: () => changed.promise } as never,
      },
      principal,
      request: { signal: new AbortController().signal, authenticateAgain: async () => narrowed },
      waitSeconds,
    },
    async (reader) => readers.push(reader),
    () => ({ kind: "run", id: "run", state: "queued" }),
  );
  return { answer, readers, change: changed.resolve };
}

test("a wait takes a seat of event streams while it lasts, and reads again with the rights of then", async () => {
  const seats = createEventSeats(100);
  const { answer, readers, change } = waiting(seats, 60);
  await expect.poll(() => seats.counts().wait).toBe(1);
  change();
  await answer;
  expect(seats.counts().wait).toBe(0);
  expect(readers).toEqual([principal, narrowed]);
});

test("without a seat a wait is refused with 429 and a code, and one of 0 seconds needs none", async () => {
  const seats = createEventSeats(0);
  await expect(waiting(seats, 60).answer).rejects.toMatchObject({ status: 429, reason: "too_many_open" });
  const { answer, readers } = waiting(seats, 0);
  await answer;
  expect(readers).toEqual([principal]);
});
