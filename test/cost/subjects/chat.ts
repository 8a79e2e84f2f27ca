/** What chat does with text from models, clients and tools, as subjects of the cost test. */
import { createCitationFilter } from "../../../src/agents/citations.ts";
import { fitContext } from "../../../src/agents/context-window.ts";
import { createSources, fenceData, fenceSources } from "../../../src/agents/sources.ts";
import { createToolbox } from "../../../src/agents/tools/index.ts";
import type { Tool, ToolContext } from "../../../src/agents/tools/tool.ts";
import type { Agent } from "../../../src/db/turns/agents-in-chat.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { TOOL_IDS } from "../../../src/domain/tool-ids.ts";
import { loadBytePairTokens } from "../../../src/models/tokens/byte-pair.ts";
import { createChatStreamReader } from "../../../src/models/chat/stream.ts";
import { extractSentences } from "../../../src/models/chat/extract-sentences.ts";
import { collectToolCalls } from "../../../src/models/chat/tool-call-deltas.ts";
import { analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";
import { nested, numbered, repeated, type Shape } from "../shape.ts";
import { PLAIN_SHAPES, SOME_SHAPES, TEXT_SHAPES } from "../shapes.ts";
import { quoteSubjects } from "./quotes.ts";
import type { Extent, Subject } from "./subject.ts";

const passage = (text: string) => ({
  chunk_id: "c",
  document_id: "d",
  document_name: "a.md",
  chunk_index: 0,
  page: null,
  text,
});

function piecesOf(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, index * size + size),
  );
}

/** Feeds the filter with pieces of `size` characters: a model may send its text in pieces of any size. */
const citationFilter = (size: number, shapes: readonly Shape[]): Subject => ({
  name: `citation filter, in pieces of ${size}`,
  shapes,
  prepare: (text) => piecesOf(text, size),
  run(pieces) {
    const sources = createSources();
    sources.add([passage("a")]);
    const filter = createCitationFilter(sources);
    return (pieces as string[]).map((piece) => filter.write(piece)).join("") + filter.end();
  },
});

const delta = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const call = (text: string): string =>
  `data: ${JSON.stringify({
    choices: [{ delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: text } }] } }],
  })}\n\n`;

const STREAMS: readonly Shape[] = [
  repeated(delta("a")),
  repeated(call("a")),
  repeated("a", "data: "),
  repeated("data: \n"),
  repeated("data: a\n"),
  repeated(": ping\n\n"),
  repeated("\n"),
  repeated("\r"),
  repeated("event: a\n"),
  repeated(":"),
  nested("[", "]", "data: ", "\n\n"),
  nested('{"choices":[', "]}", "data: ", "\n\n"),
  numbered("events with ids", (index) => `id: ${index}\n${delta("a")}`),
];

const streamReader = (size: number): Subject => ({
  name: `reader of a chat's stream, in pieces of ${size}`,
  shapes: STREAMS,
  endsInItsOwnProcess: true,
  prepare: (text) => piecesOf(text, size),
  run(pieces) {
    const reader = createChatStreamReader();
    for (const piece of pieces as string[]) reader.read(piece);
    return reader.end();
  },
});

/** Answers a tool's calls to the service with nothing: their cost is measured in tests with a database. */
const NOTHING_BEHIND = new Proxy(
  {},
  {
    get: () => {
      throw new DomainError("database_unavailable", "The cost test has no database.");
    },
  },
);
const CONTEXT = { deps: NOTHING_BEHIND, scope: NOTHING_BEHIND, config: null } as unknown as ToolContext;

const QUOTES = { maxQuotes: 3, reader: { analyze, analyzeQuery } };

/** The maximum length of all sources of one answer. */
const PASSAGES_CHARACTERS = 48_000;

const EXPRESSIONS: readonly Shape[] = [
  nested("(", ")"),
  repeated("1+"),
  repeated("2^"),
  repeated("9!"),
  repeated("-"),
  repeated("sqrt("),
  repeated("1,", "max(", "1)"),
  repeated("1 ? 2 : "),
  repeated("[1],"),
  repeated("1e308*"),
  repeated("a."),
  repeated("1<"),
];

/** Returns the tools by name, as an agent with every tool has them; `mcp` is the tool of a server. */
export async function tools(): Promise<Map<string, Tool>> {
  const toolbox = createToolbox({ httpFetchHosts: [], mcpServers: {} }, () => undefined);
  const agent = {
    agent_type: "simple",
    tool_attachments: TOOL_IDS.map((tool_id) => ({ tool_id, config: null })),
  } as unknown as Agent;
  const found = await Promise.all(
    TOOL_IDS.map(async (id) => [id, (await toolbox.find(agent, id))?.tool] as const),
  );
  return new Map(found.flatMap(([id, tool]) => (tool === undefined ? [] : [[id, tool] as const])));
}

/**
 * Makes subjects of a tool: each of its strings in turn is the shape, then all strings are, then the
 * arguments are not an object.
 */
function toolSubjects(tool: Tool): Subject[] {
  const properties = (tool.parameters["properties"] ?? {}) as Record<string, unknown>;
  const names = [...Object.keys(properties), "no such argument"];
  return names.map((name) => ({
    name: `tool ${tool.name}, its ${name}`,
    shapes: [...EXPRESSIONS, ...PLAIN_SHAPES],
    run: (text) => tool.run(CONTEXT, { [name]: text }, AbortSignal.timeout(10_000)),
  }));
}

export async function chatSubjects(extent: Extent): Promise<Subject[]> {
  const shapes = extent === "all" ? TEXT_SHAPES : SOME_SHAPES;
  const { count } = await loadBytePairTokens("gpt-4o");
  return [
    ...[1, 7, 1_000_000].map((size) => citationFilter(size, shapes)),
    ...quoteSubjects(shapes),
    // A socket delivers at most 64 KB at once.
    ...[7, 65_536].map(streamReader),
    ...[...(await tools()).values()].flatMap(toolSubjects),
    {
      name: "arguments of a tool call in pieces of 1",
      shapes: PLAIN_SHAPES,
      prepare: (text) => piecesOf(text, 1),
      run(pieces) {
        const calls = collectToolCalls();
        for (const piece of pieces as string[])
          calls.add({ index: 0, id: "c", function: { name: "", arguments: piece } });
        calls.add({ index: 0, function: { name: "f" } });
        return calls.finish();
      },
    },
    {
      name: "fence around a tool's answer",
      shapes: [...PLAIN_SHAPES, repeated("DATA>>>")],
      run: (text) => fenceData(text as string),
    },
    {
      name: "fence around sources",
      shapes: [...shapes, repeated("\n[1] "), repeated("SOURCES>>>")],
      run: (text) => fenceSources([{ index: 1, ...passage(text as string) }]),
    },
    {
      name: "fence around what stands beside a source",
      shapes: [
        ...shapes,
        repeated("\n(after source 1:)\n"),
        repeated("\n(before source "),
        repeated("SOURCES>>>"),
      ],
      run: (text) =>
        fenceSources([
          {
            index: 1,
            ...passage("a"),
            context: [{ chunk_id: "n", side: "after", text: text as string }],
          },
        ]),
    },
    {
      name: "sentences that answer",
      shapes,
      maxLength: PASSAGES_CHARACTERS,
      run: (text) =>
        extractSentences("What turns the turbine?", [{ index: 1, text: text as string }], QUOTES),
    },
    {
      name: "sentences that answer a long question",
      shapes: PLAIN_SHAPES,
      run: (text) => extractSentences(text as string, [{ index: 1, text: "The turbine turns." }], QUOTES),
    },
    {
      name: "a conversation in its window",
      shapes: PLAIN_SHAPES,
      maxLength: 32_768,
      prepare: (text) => [
        ...piecesOf(text, 10).map((content) => ({ role: "user" as const, content })),
        { role: "user" as const, content: "a" },
      ],
      run: (messages) =>
        fitContext(messages as Parameters<typeof fitContext>[0], [], undefined, { tokens: 1_000, count }),
    },
  ];
}
