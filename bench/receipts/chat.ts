/**
 * Measures what quotes and receipts cost a chat: its first token, and the time from the last word of an
 * answer to its end. Agents with and without citations answer the same in turn, in one run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../src/domain/ids.ts";
import setup from "../../test/support/run/global-setup.ts";
import { ended, upload } from "../../test/support/clients/client.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES } from "../../test/support/tenants/tenants.ts";
import { until } from "../../test/support/until.ts";
import { percentile, say } from "../report.ts";

interface ChatBenchOptions {
  /** Answers of each agent that are measured. */
  readonly rounds?: number;
  /** Between two pieces of the provider's answer, of some seven characters each. */
  readonly pieceMs?: number;
}

const ROUNDS = 100;
const WARM_UP_ROUNDS = 10;
const PIECE_MS = 2;
/** Between two answers: the workflows of turns are kept by then. */
const REST_MS = 20;
const BIRDS = [
  "The grey heron nests in tall trees near water and raises 4 young.",
  "The little egret weighs 500 grams and follows cattle for insects.",
  "The white stork builds nests of 2 metres on roofs and chimneys.",
  "The common kingfisher dives for fish 100 times a day.",
  "The barn owl hunts voles at night and hears them under snow.",
  "The peregrine falcon reaches 320 kilometres an hour in a dive.",
  "The house martin builds its nest from 1000 pellets of mud.",
  "The great tit lays 12 eggs in holes of old trees.",
  "The mute swan weighs 11 kilograms and eats plants under water.",
  "The swift sleeps in the air and lands for breeding alone.",
];
/** Ten citations; the chunk is as long as chunks of the default size. */
const NOTE = `# Birds\n\n${BIRDS.join(" ")}\n\n${"Birds of the lake were counted again in spring and in autumn. ".repeat(30)}\n`;
const ANSWER = BIRDS.map((bird) => `${bird.replace(/\.$/, "")} [1].`).join(" ");

interface Timed {
  readonly firstMs: number;
  /** From the last piece with words to the end. */
  readonly endMs: number;
  readonly quotes: number;
}

/** Prints a table of first tokens and ends. Starts a stack of its own. */
export async function measureChat({
  rounds = ROUNDS,
  pieceMs = PIECE_MS,
}: ChatBenchOptions = {}): Promise<void> {
  const stop = await setup();
  const stack = await startStack();
  try {
    const { id } = await upload(stack.url, KEYS.owner, SPACES.research, NOTE, "birds.md");
    await ended(stack.url, KEYS.owner, id);
    const agents = [
      { name: "no citations", id: await addAgent(stack, "Bare", { isShown: false, isStrict: false }) },
      { name: "ten citations", id: AGENTS.analyst },
      {
        name: "ten, support required",
        id: await addAgent(stack, "Strict", { isShown: true, isStrict: true }),
      },
    ];
    stack.provider.replyAlways({ pieces: ANSWER.match(/.{1,7}/gs) ?? [], delayMsBetweenPieces: pieceMs });
    await until("chat is ready", async () => (await timed(stack, AGENTS.analyst)).quotes === BIRDS.length);
    const measured = new Map(agents.map((agent) => [agent.name, [] as Timed[]]));
    for (let answers = -WARM_UP_ROUNDS * agents.length; answers < rounds * agents.length; answers++) {
      const agent = agents.at(answers % agents.length)!;
      const sample = await timed(stack, agent.id);
      if (answers >= 0) measured.get(agent.name)!.push(sample);
      await sleep(REST_MS);
    }
    report(measured);
  } finally {
    await stack.close();
    await stop();
  }
}

function report(measured: ReadonlyMap<string, readonly Timed[]>): void {
  say("| agent | answers | quotes | first token, p50 (ms) | p95 | end after the last word, p50 (ms) | p95 |");
  say("|---|---|---|---|---|---|---|");
  for (const [name, samples] of measured) {
    const first = samples.map(({ firstMs }) => firstMs);
    const end = samples.map(({ endMs }) => endMs);
    const figures = [first, end].flatMap((values) => [percentile(values, 0.5), percentile(values, 0.95)]);
    const quotes = percentile(
      samples.map((sample) => sample.quotes),
      0.5,
    );
    say(`| ${name} | ${samples.length} | ${quotes} | ${figures.map((ms) => ms.toFixed(2)).join(" | ")} |`);
  }
}

/** A copy of the agent that searches first. */
async function addAgent(
  stack: Stack,
  name: string,
  { isShown, isStrict }: { isShown: boolean; isStrict: boolean },
): Promise<string> {
  const id = newId();
  await stack.database.db.owner.query(
    `insert into agents
       (id, organization_id, space_id, name, agent_type, system_prompt, show_citations, require_support,
        created_by, last_edited_by)
     select $1, organization_id, space_id, $2, agent_type, system_prompt, $3, $4, created_by, last_edited_by
     from agents
     where id = $5`,
    [id, name, isShown, isStrict, AGENTS.analyst],
  );
  return id;
}

async function timed({ url }: Stack, model: string): Promise<Timed> {
  const messages = [{ role: "user", content: "How do the birds of the lake live?" }];
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.owner}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  let firstMs = Number.NaN;
  let lastWordMs = Number.NaN;
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (!/"content":"[^"]/.test(part)) continue;
    lastWordMs = performance.now() - startedAt;
    if (Number.isNaN(firstMs)) firstMs = lastWordMs;
  }
  const endMs = performance.now() - startedAt - lastWordMs;
  if (!text.trimEnd().endsWith("[DONE]")) throw new Error(`answered ${response.status}: ${text.slice(-200)}`);
  // One is that of the citation as a whole, the others those of its marks.
  return { firstMs, endMs, quotes: Math.max(0, text.split(`"quote":`).length - 2) };
}
