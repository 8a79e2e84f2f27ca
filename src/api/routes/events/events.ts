/** GET /events and GET /events/stream: what happened, as far as the caller sees it. */
import { errorGuide } from "../../errors/error-body.ts";
import { authorizeListing } from "../../../auth/policy.ts";
import { type LogEnds, readLogEnds } from "../../../db/events/read.ts";
import { readTenant } from "../../../db/pool.ts";
import type { Principal } from "../../../domain/tenancy/principal.ts";
import { cursorOf, positionIn } from "../../../queries/events/cursor.ts";
import { requireKept } from "../../../queries/events/read-event-page.ts";
import {
  Event,
  EventFilterQuery,
  EventPage,
  EventQuery,
  EventStreamEnd,
  NOW,
} from "../../../schema/event.ts";
import { ValidationProblems, valueError } from "../../../schema/requests/problem.ts";
import type { Deps } from "../../deps.ts";
import { type Follow, followPage, followStream } from "../../events/follow.ts";
import { holdSeat } from "../../events/hold-seat.ts";
import { stream } from "../../response.ts";
import { defineRoute, type RouteRequest } from "../../route.ts";

const listEvents = defineRoute("GET /events", {
  operation: "events.list",
  access: "keys",
  capability: "read",
  audit: { action: "events:read", resource: "event" },
  summary: "List events in order, limited to what the caller can access now.",
  description:
    "Go on with `next_cursor`, which is there also if nothing matched: then every event that " +
    "becomes visible is in exactly one answer. One request looks at a bounded part of the log, " +
    "so that a page may be empty while `has_more` is true. With `wait` the request is held until " +
    "an event matches or the time is over. A cursor from which on not everything is kept any " +
    "more is answered 410, with the oldest one that can be gone on from. At most 10 streams and " +
    "waits of a key, and 20 of a user, are open at a time in a process.",
  query: EventQuery,
  response: EventPage,
  errors: [410],
  async handle({ deps, principal, query, request }) {
    const follow = await startOf(deps, principal, { query, request, place: query.after });
    const page = await followPage(deps.events, follow, {
      limit: query.limit,
      waitMs: query.wait * 1_000,
      signal: request.signal,
    });
    return {
      items: page.items,
      next_cursor: cursorOf(principal.organization.num, page.next),
      has_more: page.hasMore,
    };
  },
});

const streamEvents = defineRoute("GET /events/stream", {
  operation: "events.stream",
  access: "keys",
  capability: "read",
  audit: { action: "events:read", resource: "event" },
  summary: "Stream events as server-sent events.",
  description:
    "The `data` of each is an event, its `id` the cursor after it. Without `Last-Event-ID` and " +
    "`after` it begins now. A frame that has only an `id` moves the cursor on. The last frame of " +
    "a stream that ends by an error, such as a key that was revoked, is an `event: end` with the " +
    "status and the body of the answer; a stream that ends without one is to be taken up again " +
    "with its last `id`.",
  headers: { "Last-Event-ID": "The last `id` that was received; the stream goes on after it" },
  query: EventFilterQuery,
  replyHeaders: {
    "X-Accel-Buffering": "Always `no`: proxies of the nginx family then pass each event on at once",
  },
  otherContent: { "text/event-stream": { schema: Event.or(EventStreamEnd) } },
  errors: [410],
  async handle({ deps, principal, query, request }) {
    const lastEventId = request.headers["last-event-id"];
    const resumed = typeof lastEventId === "string" && lastEventId !== "" ? lastEventId : undefined;
    const follow = await startOf(deps, principal, {
      query,
      request,
      place: resumed ?? query.after ?? NOW,
      loc: resumed === undefined ? undefined : ["header", "last-event-id"],
    });
    requireKept(principal, follow.ends, follow.after);
    holdSeat(deps.events.seats, principal, request);
    return stream((res) =>
      followStream(deps.events, res, {
        ...follow,
        log: deps.log,
        guide: errorGuide(deps.config.api.publicUrl),
        requestId: request.id,
      }),
    );
  },
});

export const eventRoutes = [listEvents, streamEvents];

interface Asked {
  readonly query: {
    types?: string[] | undefined;
    space_id?: string | undefined;
    resource_id?: string | undefined;
  };
  readonly request: RouteRequest;
  /** A cursor or `now`; by default the oldest place that is kept. */
  readonly place: string | undefined;
  readonly loc?: readonly string[] | undefined;
}

/** @throws ValidationProblems if `place` is no cursor of the caller's organization. */
async function startOf(
  { db }: Pick<Deps, "db">,
  principal: Principal,
  { query, request, place, loc = ["query", "after"] }: Asked,
): Promise<Follow & { readonly ends: LogEnds }> {
  authorizeListing(principal, "events:read");
  const { organization } = principal;
  const ends = await readTenant(db, organization, (sql) => readLogEnds(sql, organization.id));
  const after =
    place === undefined ? ends.expired : place === NOW ? ends.last : positionIn(place, organization.num);
  if (after === null)
    throw new ValidationProblems([valueError(loc, "not a cursor of this organization", place)]);
  return {
    asker: { userId: principal.user.id, ...request },
    principal,
    filter: { types: query.types, spaceId: query.space_id, resourceId: query.resource_id },
    after,
    last: ends.last,
    ends,
  };
}
