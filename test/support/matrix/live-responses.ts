/** Makes responses, goes on from them, and lets one be taken up by another attempt. */
import { call } from "../clients/client.ts";
import type { Stack } from "../stack/stack.ts";
import { AGENTS, KEYS } from "../tenants/tenants.ts";
import { until } from "../until.ts";

const NOBODY = "00000000-0000-0000-0000-000000000000";

export async function makeResponses({ url, provider, database }: Stack): Promise<void> {
  const owner = (method: string, path: string, body?: unknown) =>
    call(url, KEYS.owner, method, `/responses${path}`, body);
  const model = AGENTS.analyst;
  const { body: first } = await owner("POST", "", { model, input: "Hello" });
  const { body: second } = await owner("POST", "", {
    model,
    previous_response_id: first.id,
    input: [
      { type: "item_reference", id: first.output[0].id },
      { role: "user", content: "And?" },
    ],
  });
  await owner("GET", `/${second.id}/input_items`);
  await owner("DELETE", `/${first.id}`);

  const ask = { model: "scripted-chat", input: "Think", background: true };
  provider.reply({ pieces: ["Half", " more"], heldBy: new Promise(() => undefined) });
  const { body: held } = await owner("POST", "", ask);
  const outputOf = async (id: string) => (await owner("GET", `/${id}`)).body;
  await until("it has begun", async () => (await outputOf(held.id)).output.length > 0);
  await database.db.owner.query(
    "update responses set api_process_id = $1 where is_background and status = 'in_progress'",
    [NOBODY],
  );
  await until("another attempt has ended it", async () => (await outputOf(held.id)).status === "completed");

  provider.reply({ pieces: ["Half", " more"], heldBy: new Promise(() => undefined) });
  const { body: cancelled } = await owner("POST", "", ask);
  await until("it has begun", async () => (await outputOf(cancelled.id)).output.length > 0);
  await until("it was looked for", async () => (await outputOf(cancelled.id)).status === "in_progress");
  await owner("POST", `/${cancelled.id}/cancel`);
}
