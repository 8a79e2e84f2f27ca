/**
 * Every door that opens a document as a whole leaves a row in the audit log, with the document and its space.
 * The routes, tools and methods are those that there are; content-doors.ts says what each answers.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { MCP_METHODS } from "../../src/api/mcp/methods.ts";
import { API_ROUTES } from "../../src/api/routes/index.ts";
import { newId } from "../../src/domain/ids.ts";
import { TOOL_IDS } from "../../src/domain/tool-ids.ts";
import { encodeId } from "../../src/schema/openai/ids.ts";
import { type Answer, call, ended, fileForm } from "../support/clients/client.ts";
import { connectMcp } from "../support/clients/mcp-client.ts";
import { signedIn } from "../support/clients/signed-in.ts";
import { makePdf } from "../support/files/text.ts";
import {
  METHODS_OF_MCP,
  OPENING_ROUTES,
  OTHER_ROUTES,
  QUOTING_ROUTES,
  STREAMING_ROUTES,
  TOOLS_OF_AGENTS,
  TOOLS_OF_MCP,
} from "../support/matrix/content-doors.ts";
import { matrixRequest } from "../support/matrix/requests.ts";
import type { Things } from "../support/matrix/world.ts";
import { until } from "../support/until.ts";

/** A word that is in the document's text, and in no name. */
const CANARY = "okapi";

const people = signedIn();
const { stack, tenants } = people;
const owner = (method: string, path: string, body?: unknown): Promise<Answer> =>
  call(stack.url, tenants.keys.owner, method, path, body);

const at = { id: "", fileId: "", filePath: "", store: "", otherStore: "", uri: "" };

interface Row {
  readonly id: string;
  readonly action: string;
  readonly resource_id: string;
  readonly space_id: string | null;
  readonly outcome: string;
}

async function rowsOf(actions: readonly string[], resourceId: string): Promise<Row[]> {
  const { rows } = await stack.database.db.owner.query<Row>(
    `select id, action, resource_id, space_id, outcome
     from audit_log
     where action = any($1)
       and resource_id = $2
       and split_part(outcome, ' ', 1) = 'success'
     order by at, id`,
    [actions, resourceId],
  );
  return rows;
}

/** Without the rows of what is known about it, which name no space. */
const openings = async (): Promise<Row[]> =>
  (await rowsOf(["documents:read"], at.id)).filter(({ space_id: space }) => space !== null);

/** Does it, and returns the new rows of the document once there are some. */
async function openedBy(door: () => Promise<unknown>): Promise<Row[]> {
  const before = new Set((await openings()).map(({ id }) => id));
  await door();
  return until("the row is in the audit log", async () => {
    const rows = (await openings()).filter(({ id }) => !before.has(id));
    return rows.length > 0 && rows;
  });
}

const ok = async (answer: Promise<Answer>): Promise<Answer> => {
  const { status, body, headers } = await answer;
  if (status > 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return { status, body, headers };
};

beforeAll(async () => {
  const store = async (space: keyof Tenants["spaces"]) =>
    (
      await ok(
        owner("POST", "/vector_stores", { name: newId(), metadata: { space_id: tenants.spaces[space] } }),
      )
    ).body.id as string;
  at.store = await store("research");
  at.otherStore = await store("archive");
  const pdf = makePdf([[`The ${CANARY} sleeps in the thicket.`]]) as Buffer<ArrayBuffer>;
  const form = fileForm(pdf, "animal.pdf", {
    space_id: tenants.spaces.research,
    folder_id: plain(at.store),
  });
  at.id = (await ok(owner("POST", "/data/upload", form))).body.id;
  await ended(stack.url, tenants.keys.owner, at.id);
  at.fileId = encodeId("file", at.id);
  at.filePath = (await owner("GET", `/data/${at.id}`)).body.file_path;
  at.uri = `holdfast://spaces/${tenants.spaces.research}/documents/${at.id}`;
});

type Tenants = typeof tenants;

/** The UUID of an id with a prefix. */
const plain = (id: string): string => id.replace(/^\w+?_(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

const ASKS: Readonly<Record<(typeof OPENING_ROUTES)[number], () => Promise<unknown>>> = {
  "GET /v1/data/:document_id/text": () => ok(owner("GET", `/data/${at.id}/text`)),
  "GET /v1/data/:document_id/chunks": () => ok(owner("GET", `/data/${at.id}/chunks`)),
  "GET /v1/data/:document_id/pages": () => ok(owner("GET", `/data/${at.id}/pages`)),
  "GET /v1/data/:document_id/pages/:page_number": () => ok(owner("GET", `/data/${at.id}/pages/1`)),
  "GET /v1/files/:file_id/content": () => ok(owner("GET", `/files/${at.fileId}/content`)),
  "POST /v1/vector_stores": () =>
    ok(
      owner("POST", "/vector_stores", {
        name: newId(),
        metadata: { space_id: tenants.spaces.archive },
        file_ids: [at.fileId],
      }),
    ),
  "POST /v1/vector_stores/:vector_store_id/files": () =>
    ok(owner("POST", `/vector_stores/${at.otherStore}/files`, { file_id: at.fileId })),
  "POST /v1/vector_stores/:vector_store_id/file_batches": async () => {
    const { body } = await ok(
      owner("POST", "/vector_stores", { name: newId(), metadata: { space_id: tenants.spaces.archive } }),
    );
    await ok(owner("POST", `/vector_stores/${body.id}/file_batches`, { file_ids: [at.fileId] }));
  },
  "GET /v1/vector_stores/:vector_store_id/files/:file_id/content": () =>
    ok(owner("GET", `/vector_stores/${at.store}/files/${at.fileId}/content`)),
  "GET /v1/spaces/:space_id/data/download": () =>
    ok(owner("GET", `/spaces/${tenants.spaces.research}/data/download?path=${pathInSpace()}`)),
  "POST /v1/responses": () =>
    ok(
      owner("POST", "/responses", {
        model: tenants.agents.librarian,
        input: [{ role: "user", content: [{ type: "input_file", file_id: at.fileId }] }],
      }),
    ),
  "POST /mcp": async () => {
    const { client } = await connectMcp(stack.url, tenants.keys.owner);
    await client.readResource({ uri: at.uri });
  },
};

const pathInSpace = (): string => encodeURIComponent(at.filePath.split("/").slice(2).join("/"));

describe("every door has its place", () => {
  test("every route", () => {
    const known = [...OPENING_ROUTES, ...QUOTING_ROUTES, ...STREAMING_ROUTES, ...OTHER_ROUTES];
    expect(known.toSorted()).toEqual(
      API_ROUTES.map(({ method, fullPath }) => `${method} ${fullPath}`).toSorted(),
    );
  });

  test("every tool of agents, and every tool and method of the Model Context Protocol", async () => {
    const { client } = await connectMcp(stack.url, tenants.keys.owner);
    const { tools } = await client.listTools();
    expect(Object.keys(TOOLS_OF_AGENTS)).toEqual([...TOOL_IDS]);
    expect(Object.keys(TOOLS_OF_MCP)).toEqual(tools.map(({ name }) => name));
    expect(Object.keys(METHODS_OF_MCP)).toEqual(MCP_METHODS);
  });
});

describe("what opens a document leaves its row, with the space", () => {
  test.each(OPENING_ROUTES)("%s", async (route) => {
    const rows = await openedBy(ASKS[route]);
    expect(rows.map(({ space_id: space }) => space)).toEqual([tenants.spaces.research]);
  });

  test("the tools named read_document, of agents and of the Model Context Protocol", async () => {
    const opening = (tools: Readonly<Record<string, string>>) =>
      Object.keys(tools).filter((name) => tools[name] === "opens");
    expect([opening(TOOLS_OF_AGENTS), opening(TOOLS_OF_MCP)]).toEqual([["read_document"], ["read_document"]]);
    const { client } = await connectMcp(stack.url, tenants.keys.owner);
    const byMcp = await openedBy(() =>
      client.callTool({ name: "read_document", arguments: { document_id: at.id } }),
    );
    await stack.database.db.owner.query("update agents set tool_attachments = $2 where id = $1", [
      tenants.agents.librarian,
      JSON.stringify([{ tool_id: "read_document", config: null }]),
    ]);
    const read = { id: "read", name: "read_document", arguments: JSON.stringify({ document_id: at.id }) };
    stack.provider.replyAlways((request) =>
      request["messages"].at(-1).role === "user" ? { toolCalls: [read] } : { pieces: ["Read."] },
    );
    const byAgent = await openedBy(() =>
      ok(
        owner("POST", "/chat/completions", {
          model: tenants.agents.librarian,
          messages: [{ role: "user", content: "Read it." }],
        }),
      ),
    );
    for (const rows of [byMcp, byAgent])
      expect(rows.map(({ space_id: space }) => space)).toEqual([tenants.spaces.research]);
  });
});

test("a copy into another space names its source and its target, of a personal file too", async () => {
  const form = fileForm("A personal file.", "mine.md", { purpose: "assistants" });
  const mine = (await ok(owner("POST", "/files", form))).body.id as string;
  const { body: other } = await ok(
    owner("POST", "/vector_stores", {
      name: newId(),
      metadata: { space_id: tenants.spaces.archive },
      file_ids: [at.fileId, mine],
    }),
  );
  const { body: files } = await owner("GET", `/vector_stores/${other.id}/files`);
  expect(files.data).toHaveLength(2);
  const sources = [
    { id: at.id, action: "documents:read", space: tenants.spaces.research },
    { id: plain(mine.replace("-", "_")), action: "user_files:read", space: null },
  ];
  for (const { id, action, space } of sources) {
    const row = (await rowsOf([action], id)).at(-1)!;
    expect(row.space_id).toBe(space);
    const { target } = JSON.parse(row.outcome.slice("success ".length)) as {
      target: { type: string; id: string; space_id: string };
    };
    expect(target).toMatchObject({ type: "document", space_id: tenants.spaces.archive });
    expect(await rowsOf(["documents:create"], target.id)).toMatchObject([
      { space_id: tenants.spaces.archive },
    ]);
  }
});

test("a personal file that a response reads, or that is downloaded, leaves user_files:read", async () => {
  const form = fileForm("A personal file.", "mine.md", { purpose: "user_data" });
  const mine = (await ok(owner("POST", "/files", form))).body.id as string;
  const id = plain(mine.replace("-", "_"));
  await ok(owner("GET", `/files/${mine}/content`));
  await ok(
    owner("POST", "/responses", {
      model: tenants.agents.public,
      input: [{ role: "user", content: [{ type: "input_file", file_id: mine }] }],
    }),
  );
  await until("both are in the log", async () => (await rowsOf(["user_files:read"], id)).length === 2);
});

test("what is said to have no content answers none of it", async () => {
  const things: Things = {
    space_id: tenants.spaces.research,
    document_id: at.id,
    folder_id: plain(at.store),
    agent_id: tenants.agents.librarian,
    organization_id: tenants.acme,
    user_id: people.ids.ada,
    file_path: decodeURIComponent(pathInSpace()),
  };
  const asked: string[] = [];
  for (const { method, fullPath, access, audit } of API_ROUTES) {
    const route = `${method} ${fullPath}`;
    const isRead = method === "GET" || audit?.isChange === false;
    if (!(OTHER_ROUTES as readonly string[]).includes(route) || !isRead) continue;
    if (access !== "keys" && access !== "jwt") continue;
    const { path, body, headers } = matrixRequest(route, things);
    const answer =
      access === "jwt"
        ? await people.as("ada", method, path, body, headers)
        : await call(stack.url, tenants.keys.owner, method, path, body, headers);
    if (answer.status === 200) asked.push(route);
    expect([route, JSON.stringify(answer.body).toLowerCase().includes(CANARY)]).toEqual([route, false]);
  }
  // Most of them; the others are about things that this organization has not.
  expect(asked.length).toBeGreaterThan(25);
});
