/** The resource over HTTP. Nothing answers at the addresses; deliveries have tests of their own. */
import { expect, test } from "vitest";
import { call } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;

const URL_OF = "https://receiver.invalid/hook";
const make = (more: object = {}, who: Parameters<typeof people.as>[0] = "ada") =>
  people.as(who, "POST", "/webhooks", {
    url: URL_OF,
    types: ["webhook.updated"],
    space_id: tenants.spaces.research,
    ...more,
  });

test("the secret is shown when it is made and when it is rolled, and never again", async () => {
  const made = await make();
  const path = `/webhooks/${made.body.id}`;
  expect(made).toMatchObject({
    status: 201,
    body: {
      url: URL_OF,
      types: ["webhook.updated"],
      status: "active",
      secret: expect.stringMatching(/^whsec_/),
    },
  });
  expect(made.headers.get("cache-control")).toBe("no-store");

  const rolled = await people.as("ada", "POST", `${path}/secret/roll`, { overlap_seconds: 60 });
  expect(rolled.status).toBe(201);
  expect(rolled.headers.get("cache-control")).toBe("no-store");
  expect(rolled.body.secret).not.toBe(made.body.secret);

  const shown = [
    await people.as("ada", "GET", path),
    await people.as("ada", "GET", `/webhooks?space_id=${tenants.spaces.research}`),
    await people.as("ada", "PATCH", path, { description: "told apart" }),
  ];
  expect(shown.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(JSON.stringify(shown.map(({ body }) => body))).not.toContain("whsec_");
});

test("who may not manage it sees nothing of it", async () => {
  const { body } = await make();
  const path = `/webhooks/${body.id}`;
  const list = async (who: Parameters<typeof people.as>[0]) =>
    (await people.as(who, "GET", "/webhooks?limit=100")).body.items.map((one: { id: string }) => one.id);

  expect((await people.as("vic", "GET", path)).status).toBe(403);
  expect((await people.as("rob", "GET", path)).status).toBe(404);
  expect((await call(stack.url, tenants.keys.owner, "GET", path)).status).toBe(401);
  expect((await make({}, "vic")).status).toBe(403);
  expect((await make({ space_id: null }, "vic")).status).toBe(403);
  expect(await list("ada")).toContain(body.id);
  for (const who of ["vic", "rob"] as const) expect(await list(who)).not.toContain(body.id);
});

test("a webhook that was read may be written back, but not to another space", async () => {
  const { body } = await make();
  const path = `/webhooks/${body.id}`;
  const { body: read } = await people.as("ada", "GET", path);

  expect(await people.as("ada", "PATCH", path, read)).toMatchObject({ status: 200, body: read });
  expect(await people.as("ada", "PATCH", path, { ...read, space_id: tenants.spaces.archive })).toMatchObject({
    status: 422,
    body: {
      detail: [
        {
          loc: ["body", "space_id"],
          msg: "Value error, space_id is read-only: send it unchanged, or omit it",
        },
      ],
    },
  });
});

test("an address to which nothing may be delivered is refused, and not repeated", async () => {
  const refused = await make({ url: "https://169.254.169.254/latest/secret-part" });

  expect(refused).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body", "url"], msg: "Value error, must be at a public address" }] },
  });
  expect(JSON.stringify(refused.body)).not.toContain("secret-part");
});

test("a test becomes a delivery, which can be asked for again", async () => {
  const { body } = await make();
  const path = `/webhooks/${body.id}`;
  expect((await people.as("ada", "POST", `${path}/test`)).status).toBe(202);

  let items: { id: string; event_type: string }[] = [];
  await until("the test is among the deliveries", async () => {
    items = (await people.as("ada", "GET", `${path}/deliveries?event_type=webhook.test`)).body.items;
    return items.length === 1;
  });
  const again = await people.as("ada", "POST", `${path}/deliveries/${items[0]!.id}/redeliver`);
  expect(again).toMatchObject({ status: 202, body: { id: items[0]!.id, status: "pending" } });
  await people.as("ada", "DELETE", path);
  expect((await people.as("ada", "GET", `${path}/deliveries`)).status).toBe(404);
});

test("a replay is accepted once for an Idempotency-Key, and not from before what is kept", async () => {
  const { body } = await make();
  const path = `/webhooks/${body.id}/replay`;
  const token = await stack.issuer.token(tenants.subject("ada"));
  const replay = (values: object, key: string) =>
    call(stack.url, token, "POST", path, values, { "idempotency-key": `${body.id} ${key}` });
  const from = new Date(Date.now() - 60_000).toISOString();

  const [first, second] = [await replay({ from }, "a"), await replay({ from }, "a")];
  expect(first.status).toBe(202);
  expect(second.body).toEqual(first.body);
  expect((await replay({ from, to: from }, "b")).status).toBe(422);
});
