/**
 * Starts what the bench of clients asks: the scripted provider, the service, and a vector store with
 * documents.
 */
import OpenAI, { toFile } from "openai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { decodeId } from "../../src/schema/openai/ids.ts";
import { type Stack, startStack } from "../../test/support/stack/stack.ts";
import { AGENTS, KEYS, SPACES, TENANTS } from "../../test/support/tenants/tenants.ts";
import { chatIsReady } from "../../test/support/clients/sdk/chat-is-ready.ts";
import { seeded } from "../../test/support/seeded.ts";
import { startProvider } from "../chat/start.ts";

export interface Bench {
  readonly stack: Stack;
  readonly providerUrl: string;
  readonly agent: string;
  readonly key: string;
  /** The store as OpenAI's clients know it, and the folder that it is. */
  readonly store: string;
  readonly folderId: string;
  readonly spaceId: string;
  /** The official MCP client, with a session at `/mcp`. */
  readonly mcp: Client;
  close(): Promise<void>;
}

interface BenchOptions {
  readonly pieces: string;
  readonly firstTokenMs: string;
  readonly documents: string;
}

const PER_BATCH = 100;
const WORDS_OF_A_DOCUMENT = 300;
const WORDS = Array.from({ length: 2_000 }, (_, at) => `word${at.toString(36)}`);

/** A text of a few common words and many rare ones. */
function madeText(random: () => number): string {
  const words = Array.from(
    { length: WORDS_OF_A_DOCUMENT },
    () => WORDS[Math.floor(random() ** 2 * WORDS.length)]!,
  );
  return `${words.join(" ")}\n`;
}

/** A question of three words that no other has asked, so that none is answered from what another left. */
export function madeQueries(seed: number): () => string {
  const random = seeded(seed);
  let asked = 0;
  return () => {
    const words = Array.from({ length: 3 }, () => WORDS[Math.floor(random() * WORDS.length)]!);
    return `${words.join(" ")} ${seed} ${(asked++).toString(36)}`;
  };
}

async function makeStore(url: string, count: number): Promise<string> {
  const { vectorStores } = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEYS.owner });
  const { id } = await vectorStores.create({ name: "Bench", metadata: { space_id: SPACES.research } });
  const random = seeded(1);
  for (let from = 0; from < count; from += PER_BATCH) {
    const numbers = Array.from({ length: Math.min(PER_BATCH, count - from) }, (_, at) => from + at);
    const files = await Promise.all(
      numbers.map(async (number) => toFile(Buffer.from(madeText(random)), `${number}.md`)),
    );
    const batch = await vectorStores.fileBatches.uploadAndPoll(id, { files }, { pollIntervalMs: 100 });
    if (batch.file_counts.completed !== numbers.length)
      throw new Error(`the batch ended with ${JSON.stringify(batch.file_counts)}`);
  }
  return id;
}

async function connectMcp(url: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${KEYS.owner}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
  await client.connect(transport);
  // A result is checked against the schemas that the client has learnt, as it is everywhere.
  await client.listTools();
  return client;
}

export async function startBench({ pieces, firstTokenMs, documents }: BenchOptions): Promise<Bench> {
  const provider = await startProvider(firstTokenMs, pieces);
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider.url, LOG_LEVEL: "warn" } });
  await chatIsReady(stack.url, TENANTS);
  const store = await makeStore(stack.url, Number(documents));
  const mcp = await connectMcp(stack.url);
  return {
    stack,
    providerUrl: provider.url,
    agent: AGENTS.public,
    key: KEYS.owner,
    store,
    folderId: decodeId("vectorStore", store)!,
    spaceId: SPACES.research,
    mcp,
    async close() {
      await mcp.close();
      await stack.close();
      provider.stop();
    },
  };
}
