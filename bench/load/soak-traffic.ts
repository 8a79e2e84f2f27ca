/**
 * Makes the requests of the soak's tenants, some of them bad on purpose, and looks into each answer for what
 * must not be in it.
 */
import { randomUUID } from "node:crypto";
import { type Answer, call, fileForm } from "../../test/support/clients/client.ts";
import { makePdf } from "../../test/support/files/text.ts";
import { type Tenant, foreignCanaries } from "./soak-tenants.ts";

type Random = () => number;

export interface Traffic {
  /** Answers by kind of request and status. */
  readonly answers: Map<string, number>;
  /** Foreign canaries, answers of 500, good requests that were refused and bad ones that were not. */
  readonly wrong: string[];
  /** Answers in which the tenant's own canary was found. */
  ownSeen: number;
}

export interface Asking {
  readonly url: string;
  readonly tenants: readonly Tenant[];
  readonly traffic: Traffic;
  readonly random: Random;
}

interface Asked extends Asking {
  readonly tenant: Tenant;
}

type Request = (asked: Asked) => Promise<Answer | undefined>;

const BAD_SHARE = 0.05;
const DOCUMENTS_OF_A_TENANT = 40;
const WORDS = [
  ..."harbour vessel cargo berth inspection storage customs permit".split(" "),
  ..."invoice crew fuel repair schedule weather insurance transit".split(" "),
];

const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () => pick(random, WORDS)).join(" ");
const send = ({ url, tenant }: Asked, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(url, tenant.key, method, path, body);

async function upload(asked: Asked): Promise<Answer> {
  const { tenant, random } = asked;
  const text = `${tenant.canary} ${words(random, 150)}`;
  const name = `${tenant.canary}-${Math.floor(random() * 1e9)}`;
  const file =
    random() < 0.2
      ? fileForm(new Uint8Array(makePdf([[text.slice(0, 70), words(random, 8)]])), `${name}.pdf`, {
          space_id: tenant.spaceId,
        })
      : fileForm(`# ${name}\n\n${text}`, `${name}.md`, { space_id: tenant.spaceId });
  const answer = await send(asked, "POST", "/data/upload", file);
  if (answer.status === 201) tenant.documents.push(answer.body.id);
  return answer;
}

/** Forgets the document first, so that no later request asks for it. */
async function remove(asked: Asked): Promise<Answer | undefined> {
  const { documents } = asked.tenant;
  const id = documents.splice(Math.floor(asked.random() * documents.length), 1)[0];
  return id === undefined ? undefined : send(asked, "DELETE", `/data/${id}`);
}

const chat =
  (agent: "rag" | "withTools", stream: boolean): Request =>
  async (asked) => {
    const { tenant, random } = asked;
    const messages = [{ role: "user", content: `${tenant.canary} ${words(random, 4)}?` }];
    const answer = await send(asked, "POST", "/chat/completions", {
      model: tenant.agents[agent],
      messages,
      stream,
    });
    if (answer.status === 200 && stream && !String(answer.body).trimEnd().endsWith("data: [DONE]"))
      asked.traffic.wrong.push("a stream ended without [DONE]");
    return answer;
  };

const search: Request = (asked) =>
  send(asked, "POST", "/data/hybrid-search", {
    space_id: asked.tenant.spaceId,
    query: `${asked.tenant.canary} ${words(asked.random, 3)}`,
    limit: 5,
  });

const read: Request = async (asked) => {
  const id = pick(asked.random, asked.tenant.documents);
  if (id === undefined) return undefined;
  const { status, body, headers } = await send(
    asked,
    "GET",
    `/data/${id}${pick(asked.random, ["", "", "/versions", "/integrity"])}`,
  );
  // A document that another request of the tenant deletes meanwhile is no longer there.
  return { status: status === 404 && !asked.tenant.documents.includes(id) ? 200 : status, body, headers };
};

const reprocess: Request = async (asked) => {
  const id = pick(asked.random, asked.tenant.documents);
  return id === undefined
    ? undefined
    : send(asked, "POST", `/data/${id}/reprocess`, {
        chunker_name: pick(asked.random, ["sentence", "recursive", "page_based"]),
      });
};

const GOOD: readonly (readonly [name: string, weight: number, request: Request])[] = [
  [
    "upload",
    25,
    (asked) => (asked.tenant.documents.length < DOCUMENTS_OF_A_TENANT ? upload(asked) : remove(asked)),
  ],
  ["search", 30, search],
  ["chat (rag)", 8, chat("rag", false)],
  ["chat (rag, streamed)", 8, chat("rag", true)],
  ["chat (tool)", 3, chat("withTools", false)],
  ["chat (tool, streamed)", 3, chat("withTools", true)],
  ["delete", 8, remove],
  ["read", 8, read],
  ["list", 5, (asked) => send(asked, "POST", "/data/search?limit=10", {})],
  ["reprocess", 2, reprocess],
];
const TOTAL_WEIGHT = GOOD.reduce((sum, [, weight]) => sum + weight, 0);

const another = ({ tenants, tenant, random }: Asked): Tenant =>
  pick(
    random,
    tenants.filter((one) => one !== tenant),
  );

/**
 * Each is refused with a status of 400 to 499; a search in another tenant's space may find nothing instead.
 */
const BAD: readonly Request[] = [
  (asked) => send(asked, "GET", `/data/${pick(asked.random, another(asked).documents) ?? randomUUID()}`),
  (asked) => send(asked, "DELETE", `/data/${pick(asked.random, another(asked).documents) ?? randomUUID()}`),
  (asked) =>
    send(
      asked,
      "POST",
      "/data/upload",
      fileForm(asked.tenant.canary, "a.md", { space_id: another(asked).spaceId }),
    ),
  (asked) =>
    send(asked, "POST", "/chat/completions", {
      model: another(asked).agents.rag,
      messages: [{ role: "user", content: "What do they have?" }],
    }),
  (asked) => send(asked, "POST", "/data/hybrid-search", { query: "", limit: -1 }),
  (asked) => send(asked, "POST", "/data/hybrid-search", { query: "cargo", space_id: another(asked).spaceId }),
  (asked) => send(asked, "POST", "/data/search", '{"limit": '),
  (asked) => send(asked, "GET", "/data/not-a-uuid"),
  (asked) => send(asked, "POST", "/data/upload", fileForm("No space.", "lost.md", { space_id: "here" })),
  (asked) => send(asked, "PUT", "/data/search", {}),
  ({ url }) => call(url, "sk-garbage", "GET", "/me"),
];

function note({ tenant, traffic }: Asked, name: string, { status, body }: Answer, isBad: boolean): void {
  const counted = `${isBad ? "bad input" : name}|${status}`;
  traffic.answers.set(counted, (traffic.answers.get(counted) ?? 0) + 1);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const foreign = foreignCanaries(text, tenant);
  if (foreign.length > 0) traffic.wrong.push(`${name} answered with what is another tenant's`);
  if (text.includes(tenant.canary)) traffic.ownSeen += 1;
  const isRefused = (status >= 400 && status <= 499) || (status === 200 && body.total_results === 0);
  if (isBad ? !isRefused : status > 299)
    traffic.wrong.push(`${name} answered ${status}: ${text.slice(0, 200)}`);
}

/** Draws a request by its weight. */
function pickRequest(random: Random): (typeof GOOD)[number] {
  let left = random() * TOTAL_WEIGHT;
  for (const one of GOOD) {
    left -= one[1];
    if (left < 0) return one;
  }
  return GOOD.at(-1)!;
}

/** Makes one request of a random tenant, and counts and judges the answer. */
export async function askOnce(asking: Asking): Promise<void> {
  const { random, tenants, traffic } = asking;
  const asked: Asked = { ...asking, tenant: pick(random, tenants) };
  const isBad = random() < BAD_SHARE;
  const [name, , request] = isBad ? (["bad input", 0, pick(random, BAD)] as const) : pickRequest(random);
  try {
    const answer = await request(asked);
    if (answer !== undefined) note(asked, name, answer, isBad);
  } catch (error) {
    traffic.wrong.push(`${name} was not answered: ${String(error)}`);
  }
}
