/** A seat for as long as an answer takes. */
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { RouteRequest } from "../route.ts";
import type { EventSeats } from "./seats.ts";

/** Takes a seat for a stream, until its connection closes. @throws as {@link EventSeats}'s `take`. */
export function holdSeat(seats: EventSeats, principal: Principal, { res }: Pick<RouteRequest, "res">): void {
  const leave = seats.take(principal, "stream");
  res.once("close", leave);
  // A client that left before it had a place gives no sign of that any more.
  if (res.destroyed) leave();
}
