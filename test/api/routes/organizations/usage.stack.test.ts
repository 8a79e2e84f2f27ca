/** What an organization used, on the real stack. */
import { expect, test } from "vitest";
import { call, upload } from "../../../support/clients/client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const AT = `/organizations/${tenants.acme}`;

test("adds up turns, tokens, documents and bytes by day, user, key and agent", async () => {
  const content = "# Numbers\n\nOne, two, three.";
  await upload(stack.url, tenants.keys.editor, tenants.spaces.research, content, "one.md");
  await upload(stack.url, tenants.keys.editor, tenants.spaces.research, content, "two.md");
  await until("chat is ready", async () => {
    const answer = await call(stack.url, tenants.keys.viewer, "POST", "/chat/completions", {
      model: tenants.agents.librarian,
      messages: [{ role: "user", content: "Hello" }],
    });
    return answer.status === 200;
  });
  const day = new Date().toISOString().slice(0, 10);
  // A turn is noted when it begins, its tokens once it has ended.
  const rows = await until("the turn is recorded", async () => {
    const { body } = await people.as("ada", "GET", `${AT}/usage?from=${day}`);
    return (
      body.items.some(
        (row: { agent_id: string | null; completion_tokens: number }) =>
          row.agent_id === tenants.agents.librarian && row.completion_tokens > 0,
      ) && body.items
    );
  });
  const { rows: keys } = await stack.database.db.owner.query<{ id: string; name: string }>(
    "select id, name from api_keys where organization_id = $1",
    [tenants.acme],
  );
  const keyId = (name: string) => keys.find((key) => key.name === name)?.id;
  const none = { prompt_tokens: 0, completion_tokens: 0, turns: 0, documents: 0, bytes: 0 };
  expect(rows).toContainEqual({
    ...none,
    day,
    user_id: people.ids.eve,
    api_key_id: keyId("editor"),
    agent_id: null,
    documents: 2,
    bytes: 2 * Buffer.byteLength(content),
  });
  expect(
    rows.find((row: { agent_id: string | null }) => row.agent_id === tenants.agents.librarian),
  ).toMatchObject({
    day,
    user_id: people.ids.vic,
    api_key_id: keyId("viewer"),
    turns: 1,
    documents: 0,
    prompt_tokens: expect.any(Number),
    completion_tokens: expect.any(Number),
  });
  const { body: budgets } = await people.as("ada", "GET", `${AT}/token-budgets`);
  const month = day.slice(0, 7);
  const ofTurn = rows.find((row: { turns: number }) => row.turns > 0);
  const used = ofTurn.prompt_tokens + ofTurn.completion_tokens;
  expect(used).toBeGreaterThan(0);
  expect(budgets.items).toEqual([
    { budget: "organization", owner_id: tenants.acme, month, used, quota: null },
    { budget: "user", owner_id: people.ids.vic, month, used, quota: null },
    { budget: "api_key", owner_id: keyId("viewer"), month, used, quota: null },
  ]);
  const { body: others } = await people.as("rob", "GET", `/organizations/${tenants.rival}/token-budgets`);
  expect(others.items).toMatchObject([{ budget: "organization", owner_id: tenants.rival, used: 0 }]);
  expect((await people.as("eve", "GET", `${AT}/token-budgets`)).status).toBe(403);
  expect((await people.as("ada", "GET", `${AT}/usage?to=${day}`)).body).toMatchObject({
    total_items: 0,
    items: [],
  });
  expect((await people.as("rob", "GET", `/organizations/${tenants.rival}/usage`)).body.total_items).toBe(0);
  expect((await people.as("ada", "GET", `${AT}/usage?from=yesterday`)).status).toBe(422);
});
