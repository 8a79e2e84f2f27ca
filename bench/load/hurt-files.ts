/** What requests that wait for their files cost the API: they may hold a place, but not the files. */
import { loadavg } from "node:os";
import { call, fileForm } from "../../test/support/clients/client.ts";
import { makePdf } from "../../test/support/files/text.ts";
import type { Stack } from "../../test/support/stack/stack.ts";
import { provisionTenants } from "../../test/support/tenants/provision.ts";
import { newTenants, type Tenants } from "../../test/support/tenants/tenants.ts";
import { peakOf, residentMegabytes } from "../process-tree.ts";
import { say } from "../report.ts";

interface Asker {
  readonly key: string;
  readonly agent: string;
  readonly fileId: string;
}

const MEGABYTE = 1_024 * 1_024;
const FILE_BYTES = 31 * MEGABYTE;
const REQUESTS_PER_USER = 10;
/** The most that the requests may raise the API by. */
const MOST_MEGABYTES = 100;

/** Half of them are read in moments, the others have more text than a request may bring in. */
const pdf = new Uint8Array(
  Buffer.concat([makePdf([["The crane lifts 40 t."]]), Buffer.alloc(FILE_BYTES - 2_000, " ")]),
);
const text = "The crane lifts 40 t on a quiet day.\n".repeat(FILE_BYTES / 37);

/**
 * Sends ten requests of each of six users at once, about files that they had sent before the API was started
 * again, and prints a row.
 * @returns what was wrong.
 */
export async function measureWaitingFiles(stack: Stack): Promise<string[]> {
  const askers = await uploadFiles(stack);
  await stack.api.kill("SIGTERM");
  await stack.restartApi();
  // What the first request starts is no cost of those that wait.
  await ask(stack, askers[0]!);
  const pid = stack.api.child.pid!;
  const before = await residentMegabytes(pid);
  const peak = peakOf(async () => [pid]);
  const load = loadavg()[0]!;
  const started = performance.now();
  const answers = await Promise.all(
    Array.from({ length: REQUESTS_PER_USER }, () => askers.map((asker) => ask(stack, asker))).flat(),
  );
  const most = peak.stop();
  const counts = Map.groupBy(answers, (status) => status);
  const seen = [...counts].map(([status, all]) => `${all.length} × ${status}`).join(", ");
  say(
    `\n| ${answers.length} requests of ${bodyOf(askers[0]!).length} bytes about files of 31 MB, six users | ` +
      `load | answered after (s) | memory of the API: before, most (MB) |\n|---|---|---|---|`,
  );
  say(
    `| ${seen} | ${load.toFixed(1)} | ${((performance.now() - started) / 1_000).toFixed(0)} | ${before}, ${most} |`,
  );
  return [
    ...(most - before > MOST_MEGABYTES ? [`waiting files raise the API by ${most - before} MB`] : []),
    ...answers.filter((status) => status >= 500).map((status) => `a waiting file is ${status}`),
  ];
}

async function uploadFiles(stack: Stack): Promise<Asker[]> {
  const askers: Asker[] = [];
  for (const tenants of [newTenants(), newTenants()]) {
    await provisionTenants(stack.database.db, stack.env, tenants);
    for (const who of ["owner", "editor", "viewer"] as const)
      askers.push(await uploadFile(stack, tenants, who));
  }
  return askers;
}

async function uploadFile(
  stack: Stack,
  tenants: Tenants,
  who: "owner" | "editor" | "viewer",
): Promise<Asker> {
  const key = tenants.keys[who];
  const form =
    who === "editor"
      ? fileForm(text, "crane.txt", { purpose: "user_data" })
      : fileForm(pdf, "crane.pdf", { purpose: "user_data" });
  const { status, body } = await call(stack.url, key, "POST", "/files", form);
  if (status !== 200) throw new Error(`a file was answered ${status}`);
  return { key, agent: tenants.agents.analyst, fileId: body.id };
}

const bodyOf = ({ agent, fileId }: Asker): string =>
  JSON.stringify({
    model: agent,
    store: false,
    input: [
      {
        role: "user",
        content: [
          { type: "input_file", file_id: fileId },
          { type: "input_text", text: "How much does the crane lift?" },
        ],
      },
    ],
  });

async function ask(stack: Stack, asker: Asker): Promise<number> {
  const { status } = await call(stack.url, asker.key, "POST", "/responses", bodyOf(asker));
  return status;
}
