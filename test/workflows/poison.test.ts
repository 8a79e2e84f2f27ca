/** Documents that take down what processes them, on the real stack: they end with a reason, and their neighbours never notice. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, upload } from "../support/client.ts";
import { POISON } from "../support/poison-hook.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { KEYS, SPACES } from "../support/tenants.ts";
import { until } from "../support/until.ts";

let stack: Stack;
const settings = { NODE_OPTIONS: `--import ${new URL("../support/poison-hook.ts", import.meta.url).href}` };

beforeAll(async () => {
  stack = await startStack({ withoutWorker: true });
});

afterAll(() => stack.close());

const put = async (text: string, name: string): Promise<string> => (await upload(stack.url, KEYS.editor, SPACES.research, text, name)).id;
const stateOf = async (id: string) => (await ended(stack.url, KEYS.editor, id, 120_000)).processing_state;

test("a document that kills its worker ends worker_crashed with the second time that it was alone; those of its group complete", async () => {
  const neighbours = await Promise.all(["one", "two", "three"].map((name) => put(`# ${name}\n\nA document as any other.`, `${name}.md`)));
  const poison = await put(`# Poison\n\n${POISON}`, "poison.md");
  let deaths = 0;
  let isOver = false;
  // What an orchestrator does.
  const supervised = (async () => {
    while (!isOver) {
      stack.restartWorker(settings);
      const { child } = stack.worker;
      await until("the worker died, or is not needed any more", () => isOver || child.signalCode !== null || child.exitCode !== null, 120_000);
      if (child.exitCode !== null) throw new Error(`the worker ended by itself:\n${stack.worker.output()}`);
      if (child.signalCode === "SIGKILL") deaths += 1;
    }
  })();
  try {
    expect(await stateOf(poison)).toMatchObject({ pipeline_status: "failed", error: { code: "worker_crashed", stage: "parsing" } });
    // Once in a group, or with its first attempt alone already, and then alone.
    expect(deaths).toBeGreaterThanOrEqual(2);
    expect(deaths).toBeLessThanOrEqual(3);
    for (const id of neighbours) expect(await stateOf(id)).toMatchObject({ pipeline_status: "completed" });
    const { rows } = await stack.database.db.owner.query("select r.document_id from pipeline_runs r where r.lost_attempts > 0");
    expect(rows).toEqual([{ document_id: poison }]);
  } finally {
    isOver = true;
    await supervised;
  }
}, 180_000);
