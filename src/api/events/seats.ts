/** Bounds how many streams and waits a key, a user and this process have open at once. */
import { type Seats, createSeats } from "../../process/concurrency/seats.ts";

export type EventSeats = Seats<"stream" | "wait">;

/** @param perProcess how many there may be of all callers together. */
export function createEventSeats(perProcess: number): EventSeats {
  return createSeats({
    kinds: ["stream", "wait"],
    most: { key: 10, user: 20, process: perProcess },
    of: "event-streams",
    refusal: "Too many open event streams and waiting requests",
    retryAfterSeconds: 5,
  });
}
