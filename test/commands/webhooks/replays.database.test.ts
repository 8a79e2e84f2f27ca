import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createWebhook } from "../../../src/commands/webhooks/create-webhook.ts";
import { replayEvents } from "../../../src/commands/webhooks/replay-events.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { commandDatabase, loggedIn } from "../../support/tenants/commands.ts";
import { webhookParts } from "../../support/tenants/webhooks.ts";

const test = commandDatabase();
const URL_OF = "https://receiver.example/hook";
let organization: OrganizationRef;
let spaceId: string;
let webhookId: string;
/** Owns the space and made the webhook. */
let owner: Caller;
let parts: ReturnType<typeof webhookParts>;

beforeEach(async () => {
  parts = webhookParts(test.db);
  organization = await makeOrganization(test.db);
  const ownerId = await makeUser(test.db, organization);
  spaceId = await makeSpace(test.db, organization, [[ownerId, "owner"]]);
  owner = await loggedIn(test.db, organization, ownerId);
  webhookId = (await createWebhook(parts, owner, wanted())).id;
});

const wanted = () => ({ spaceId, url: URL_OF, types: [], description: null });

describe("a replay", () => {
  const DAY = "2026-03-01";
  const at = (hour: number) => `${DAY}T${String(hour).padStart(2, "0")}:00:00.000Z`;
  const replay = (from: number, to: number | null) =>
    replayEvents(parts, owner, { webhookId, from: at(from), to: to === null ? null : at(to), types: [] });

  /**
   * A log with one event an hour, at positions 1 to 24, of which the first `expired` are not kept any more.
   */
  async function writeLog(expired: number): Promise<void> {
    await test.db.owner.query("delete from events where organization_id = $1", [organization.id]);
    await test.db.owner.query(
      `insert into events (organization_id, position, type, occurred_at, resource_type, audience)
       select $1, hour + 1, 'document.completed', $2::timestamptz + make_interval(hours => hour), 'document', 'space'
       from generate_series($3::int, 23) as hour`,
      [organization.id, at(0), expired],
    );
    await test.db.owner.query(
      `insert into event_positions values ($1, 24, $2)
       on conflict (organization_id) do update set last_position = 24, expired_position = $2`,
      [organization.id, expired],
    );
  }

  async function stretch(): Promise<unknown> {
    const { rows } = await test.db.owner.query(
      "select position, until_position from webhook_replays where webhook_id = $1",
      [webhookId],
    );
    return rows[0];
  }

  it.each([
    ["a part", 0, 5, 8, { position: 5, until_position: 9 }],
    ["the end", 0, 20, null, { position: 20, until_position: 24 }],
    ["all that is kept", 7, 7, null, { position: 7, until_position: 24 }],
  ])("goes through %s of the log and little more", async (_, expired, from, to, found) => {
    await writeLog(expired);

    await replay(from, to);

    expect(await stretch()).toEqual(found);
  });

  it("from before what is kept is refused, with the moment from which it is", async () => {
    await writeLog(7);

    await expect(replay(6, null)).rejects.toMatchObject({
      code: "cursor_expired",
      message: `The oldest kept event is from ${at(7)}.`,
    });
  });

  it("is refused while three are under way", async () => {
    await writeLog(0);
    for (const hour of [1, 2, 3]) await replay(hour, null);

    await expect(replay(4, null)).rejects.toMatchObject({ code: "bad_request" });
    await test.db.owner.query("update webhook_replays set completed_at = now() where webhook_id = $1", [
      webhookId,
    ]);
    await expect(replay(4, null)).resolves.toMatchObject({ webhook_id: webhookId });
  });
});
