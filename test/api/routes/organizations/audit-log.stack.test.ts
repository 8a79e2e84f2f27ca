/** The audit log of an organization on the real stack: in pages, and exported. */
import { expect, test } from "vitest";
import { signedIn } from "../../../support/clients/signed-in.ts";

const people = signedIn();
const { stack, tenants } = people;
const AUDIT_LOG = `/organizations/${tenants.acme}/audit-log`;

const query = (params: Record<string, unknown>) =>
  `?${Object.entries(params)
    .map(
      ([key, value]) =>
        `${key}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`,
    )
    .join("&")}`;

test("shows who did what, filtered and ordered", async () => {
  const { body: agent, headers } = await people.as("eve", "POST", "/agents", {
    name: "Audited",
    space_id: tenants.spaces.research,
  });
  const { status, body } = await people.as(
    "ada",
    "GET",
    `${AUDIT_LOG}${query({ filters: { resource_id: agent.id } })}`,
  );
  expect(status).toBe(200);
  expect(body).toEqual({
    items: [
      {
        id: expect.any(String),
        at: expect.stringMatching(/Z$/),
        actor: { id: people.ids.eve, name: "Eve Editor" },
        auth_method: "jwt",
        api_key_id: null,
        action: "agents:create",
        resource_type: "agent",
        resource_id: agent.id,
        space_id: tenants.spaces.research,
        request_id: headers.get("x-request-id"),
        outcome: "success",
        code: null,
        route: null,
        count: 1,
        target: null,
      },
    ],
    total_items: 1,
    total_pages: 1,
    page: 1,
    page_size: 100,
  });
  const { body: oldest } = await people.as(
    "ada",
    "GET",
    `${AUDIT_LOG}${query({ order_by: "at", limit: "1" })}`,
  );
  expect(oldest.items).toMatchObject([
    { action: "organization:provision", auth_method: "system", actor: null },
  ]);
  const { body: all } = await people.as("ada", "GET", AUDIT_LOG);
  expect(all.items.map((row: { at: string }) => row.at)).toEqual(
    all.items
      .map((row: { at: string }) => row.at)
      .toSorted()
      .toReversed(),
  );
  const { body: rivals } = await people.as(
    "rob",
    "GET",
    `/organizations/${tenants.rival}/audit-log${query({ filters: { resource_id: agent.id } })}`,
  );
  expect(rivals.total_items).toBe(0);
});

test("names what is wrong with its query", async () => {
  const refused = await people.as(
    "ada",
    "GET",
    `${AUDIT_LOG}${query({ filters: { nothing: 1 }, order_by: "nobody", limit: "0" })}`,
  );
  expect(refused.status).toBe(422);
  expect(refused.body.detail.map((problem: { loc: unknown[] }) => problem.loc).toSorted()).toEqual([
    ["query", "filters", "nothing"],
    ["query", "limit"],
    ["query", "order_by", 0],
  ]);
  expect((await people.as("ada", "GET", `${AUDIT_LOG}?filters=[`)).body.detail).toMatchObject([
    { loc: ["query", "filters"] },
  ]);
  expect((await people.as("ada", "GET", `${AUDIT_LOG}?format=ndjson&order_by=action`)).status).toBe(422);
});

test("is exported whole as NDJSON in either order, also if it takes more than one read", async () => {
  const rows = 2_500;
  await stack.database.db.owner.query(
    `insert into audit_log (id, organization_id, at, auth_method, action, resource_type, outcome)
     select gen_random_uuid(), $1, now() - make_interval(secs => (n / 3)::int), 'system', 'test:bulk', 'test',
            'success'
     from generate_series(1, $2) n`,
    [tenants.acme, rows],
  );
  const filters = query({ format: "ndjson", filters: { action: "test:bulk" } });
  const exported = await people.as("ada", "GET", `${AUDIT_LOG}${filters}`);
  expect(exported.status).toBe(200);
  expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
  expect(exported.headers.get("x-request-id")).toBeTruthy();
  const lines = (exported.body as string)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; at: string });
  expect(new Set(lines.map((line) => line.id)).size).toBe(rows);
  expect(lines.map((line) => line.at)).toEqual(
    lines
      .map((line) => line.at)
      .toSorted()
      .toReversed(),
  );
  const upwards = await people.as("ada", "GET", `${AUDIT_LOG}${filters}&order_by=at`);
  const ids = (upwards.body as string)
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids).toEqual(lines.map((line) => line.id).toReversed());
  expect(
    (
      await people.as(
        "ada",
        "GET",
        `${AUDIT_LOG}${query({ format: "ndjson", filters: { action: "nothing" } })}`,
      )
    ).body,
  ).toBe("");
});

test("its chain is checked by an admin, and by nobody else", async () => {
  const { status, body } = await people.as("ada", "GET", `${AUDIT_LOG}/chain`);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      after: 0,
      checked: expect.any(Number),
      next: null,
      unchained: expect.any(Number),
      head: { seq: body.checked, hash: expect.any(String) },
      fault: null,
    },
  });
  expect(body.checked + body.unchained).toBeGreaterThan(0);
  expect((await people.as("eve", "GET", `${AUDIT_LOG}/chain`)).status).toBe(403);
  expect(await people.as("ada", "GET", `${AUDIT_LOG}/chain?after=1000000`)).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["query", "after"], msg: expect.stringContaining("ends before this row") }] },
  });
});
