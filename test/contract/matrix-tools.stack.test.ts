/** Callers × modes × folders × tools of agents, compared with the rules of the specification. */
import { beforeAll, expect, test } from "vitest";
import { call, ended, fileForm } from "../support/clients/client.ts";
import { signedIn } from "../support/clients/signed-in.ts";

/** `diary` is the viewer's private space. */
type Place = keyof typeof tenants.spaces | "diary";
/** `issued` is a key for the viewer that an administrator made. */
type Key = keyof typeof tenants.keys | "issued";
type Mode = "origin" | "caller" | "none";
type Folders = "every folder" | "one folder" | "no folder";

interface Put {
  readonly id: string;
  readonly place: Place;
  readonly isInFolder: boolean;
  /** A word that is in no other document's name or text. */
  readonly canary: string;
}

/** The spaces that each key reaches, according to the provisioning file. */
const REACH: Record<Key, readonly Place[]> = {
  owner: ["research", "archive"],
  editor: ["research"],
  viewer: ["research", "diary"],
  issued: ["research"],
  scoped: ["archive"],
  rival: ["rival"],
};
/** The agents: in Research for its members, and in Archive for all colleagues. */
const HOMES = {
  librarian: { place: "research", isPublic: false },
  public: { place: "archive", isPublic: true },
} as const;
const COLLEAGUES: readonly Key[] = ["owner", "editor", "viewer", "issued", "scoped"];

const people = signedIn();
const { stack, tenants } = people;
const keys = {} as Record<Key, string>;
let folderId: string;
const documents: Put[] = [];

beforeAll(async () => {
  const issued = await people.as("ada", "POST", `/organizations/${tenants.acme}/api-keys`, {
    name: "issued",
    user_id: people.ids.vic,
  });
  Object.assign(keys, tenants.keys, { issued: issued.body.key });
  const diary = (await people.as("vic", "GET", "/me")).body.private_space_id as string;
  folderId = (
    await call(stack.url, tenants.keys.owner, "POST", "/folders", {
      name: "Allowed",
      space_id: tenants.spaces.research,
    })
  ).body.id;
  const places: readonly [Place, string, string | undefined][] = [
    ["research", tenants.keys.owner, undefined],
    ["research", tenants.keys.owner, folderId],
    ["archive", tenants.keys.owner, undefined],
    ["rival", tenants.keys.rival, undefined],
    ["diary", tenants.keys.viewer, undefined],
  ];
  for (const [place, key, folder] of places) {
    const canary = `canary${documents.length}x${place}`;
    const form = fileForm(`# Turbine ${canary}\n\nThe gearbox oil of ${canary} is changed.`, `${canary}.md`, {
      space_id: place === "diary" ? diary : tenants.spaces[place],
      ...(folder === undefined ? {} : { folder_id: folder }),
    });
    const { id } = (await call(stack.url, key, "POST", "/data/upload", form)).body;
    await ended(stack.url, key, id);
    documents.push({ id, place, isInFolder: folder !== undefined, canary });
  }
  stack.provider.replyAlways((request) => {
    if (request["messages"].at(-1).role !== "user") return { pieces: ["Seen."] };
    const reads = documents.map(({ id }, index) => ({
      id: `read-${index}`,
      name: "read_document",
      arguments: JSON.stringify({ document_id: id }),
    }));
    return {
      toolCalls: [
        { id: "list", name: "list_documents", arguments: "{}" },
        {
          id: "search",
          name: "knowledge_search",
          arguments: JSON.stringify({ query: "turbine gearbox oil" }),
        },
        ...reads,
      ],
    };
  });
});
/**
 * Returns the documents that the caller may learn about through the agent; undefined if the agent is out of
 * reach.
 */
function allowed(
  agent: keyof typeof HOMES,
  caller: Key,
  mode: Mode,
  folders: Folders,
): readonly Put[] | undefined {
  const { place, isPublic } = HOMES[agent];
  if (!REACH[caller].includes(place) && !(isPublic && COLLEAGUES.includes(caller))) return undefined;
  if (mode === "none" || folders === "no folder") return [];
  const places = mode === "caller" ? REACH[caller] : REACH[caller].filter((one) => one === place);
  return documents.filter(
    (document) => places.includes(document.place) && (folders === "every folder" || document.isInFolder),
  );
}

/** Returns the tools' answers as the model got them, by the id of the call. */
async function toldBy(agent: string, key: string): Promise<{ status: number; told: Map<string, string> }> {
  stack.provider.requests.length = 0;
  const { status } = await call(stack.url, key, "POST", "/chat/completions", {
    model: agent,
    messages: [{ role: "user", content: "Turbines?" }],
  });
  const messages: { role: string; tool_call_id: string; content: string }[] =
    stack.provider.requests.findLast((request) => request.route === "chat")?.body["messages"] ?? [];
  return {
    status,
    told: new Map(
      messages
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id, content }) => [tool_call_id, content]),
    ),
  };
}

const FOLDERS: readonly Folders[] = ["every folder", "one folder", "no folder"];
const MODES: readonly Mode[] = ["origin", "caller", "none"];
const cells = (Object.keys(HOMES) as (keyof typeof HOMES)[]).flatMap((agent) =>
  MODES.flatMap((mode) => FOLDERS.map((folders) => [agent, mode, folders] as const)),
);

test.each(cells)(
  "agent %s, data of %s, %s: each tool tells each caller of what both may read, and of nothing else",
  async (agent, mode, folders) => {
    const folderIds = { "every folder": null, "one folder": [folderId], "no folder": [] }[folders];
    const tools = ["list_documents", "knowledge_search", "read_document"].map((tool_id) => ({
      tool_id,
      config: null,
    }));
    await stack.database.db.owner.query(
      "update agents set data_access_mode = $2, allowed_folder_ids = $3, tool_attachments = $4 where id = $1",
      [tenants.agents[agent], mode, folderIds, JSON.stringify(tools)],
    );
    for (const caller of Object.keys(keys) as Key[]) {
      const expected = allowed(agent, caller, mode, folders);
      const { status, told } = await toldBy(tenants.agents[agent], keys[caller]);
      expect([caller, status]).toEqual([caller, expected === undefined ? 404 : 200]);
      if (expected === undefined) continue;
      const canaries = (text: string | undefined): string[] =>
        documents.filter(({ canary }) => text?.includes(canary)).map(({ canary }) => canary);
      const mayRead = expected.map(({ canary }) => canary);
      expect([caller, "list_documents", canaries(told.get("list"))]).toEqual([
        caller,
        "list_documents",
        mayRead,
      ]);
      expect([caller, "knowledge_search", canaries(told.get("search"))]).toEqual([
        caller,
        "knowledge_search",
        mayRead,
      ]);
      expect([
        caller,
        "read_document",
        documents.flatMap((_, index) => canaries(told.get(`read-${index}`))),
      ]).toEqual([caller, "read_document", mayRead]);
    }
  },
);
