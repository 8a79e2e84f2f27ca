import { test } from "vitest";
import { relayTo, through } from "./support/faulty-parts.ts";
import { startStack } from "./support/stack.ts";
import { call, upload, ended } from "./support/client.ts";
import { AGENTS, KEYS, SPACES } from "./support/tenants.ts";
import { until } from "./support/until.ts";
test("probe", async () => {
  const database = await relayTo(process.env["HOLDFAST_TEST_DATABASE_URL"] ?? "");
  const stack = await startStack({ env: (url) => ({ DATABASE_URL: through(url, database) }) });
  const chat = () => call(stack.url, KEYS.owner, "POST", "/chat/completions", { model: AGENTS.librarian, messages: [{ role: "user", content: "How large?" }] }, {connection: "close"});
  await until("chat", async () => (await chat()).status === 200);
  for (let i = 0; i < 5; i++) {
    const d = await upload(stack.url, KEYS.owner, SPACES.research, "# x\n\nabc " + i);
    await ended(stack.url, KEYS.owner, d.id);
    await database.cut();
    const t0 = Date.now();
    const asked = [chat(), chat(), call(stack.url, KEYS.owner, "POST", "/data/search", {}), call(stack.url, KEYS.owner, "GET", "/data/" + d.id), chat()].map((p) => p.then((a) => [a.status, Date.now() - t0]));
    const { rows } = await stack.database.db.owner.query("select application_name, state, client_port, query from pg_stat_activity where datname = current_database()");
    console.log(JSON.stringify(rows.map(r => [r.application_name, r.state, r.client_port, r.query.slice(0, 60)])), Date.now() - t0);
    console.log(JSON.stringify(await Promise.all(asked)));
    await database.restore();
    await until("works", async () => (await chat()).status === 200);
  }
  await stack.close();
});
